module.exports = exports = { contentDir: 'content' };
