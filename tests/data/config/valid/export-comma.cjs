module.exports = ({ contentDir: 'not this' }, { contentDir: 'this' });
