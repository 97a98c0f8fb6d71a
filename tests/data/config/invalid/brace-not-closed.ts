import { defineConfig } from 'inkan'
export default defineConfig({
  contentDir: 'content',
  sources: [{ dir: '../a' }],
