if (process.env.CI) { console.log('ci') }
module.exports = { contentDir: 'a' };
module.exports = { contentDir: 'b' };
