export default await defineConfig({ contentDir: 'content' })
async function defineConfig(config) { return config }
