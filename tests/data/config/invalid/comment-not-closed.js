/* header
module.exports = { contentDir: 'content' }
