module.exports = process.env.CI ? { contentDir: 'ci' } : { contentDir: 'content' };
