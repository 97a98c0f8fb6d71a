const config = { contentDir: 'content', title: 'x' };
if (process.env.CI) config.contentDir = 'ci';
export default config;
