module.exports = { contentDir: 'content' }}
