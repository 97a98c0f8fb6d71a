const shared = [{ dir: '../shared', project: 'shared' }];
module.exports = {
  contentDir: 'content',
  sources: [...shared, { dir: '../own' }, ...[], ...require('./more')],
};
