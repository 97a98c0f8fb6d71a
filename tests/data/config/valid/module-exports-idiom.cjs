const config = { contentDir: 'content' };
module.exports = config;
module.exports.default = config;
