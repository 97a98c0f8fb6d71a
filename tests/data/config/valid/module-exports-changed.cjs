module.exports = { contentDir: 'content' };
module.exports.title = 'set later';
