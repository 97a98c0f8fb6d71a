export default defineConfig({ contentDir: 'content' }
