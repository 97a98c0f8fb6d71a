module.exports = () => ({ contentDir: 'content' });
