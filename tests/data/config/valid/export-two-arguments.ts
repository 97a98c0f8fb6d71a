import { defineConfig } from 'x'
export default defineConfig('name', { contentDir: 'content' })
