if (process.env.CI) {
  module.exports = { contentDir: 'content' };
}
