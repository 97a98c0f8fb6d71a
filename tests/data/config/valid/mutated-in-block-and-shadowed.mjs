const config = { contentDir: 'content', webpack: (config) => { config.mode = 'x'; return config } };
if (process.platform) { config.contentDir = 'changed'; }
export default config;
