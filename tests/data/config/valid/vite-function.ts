import { defineConfig } from 'vite'

export default defineConfig(({ command, mode }) => ({
  contentDir: 'content',
  title: mode,
  base: command === 'serve' ? '/' : '/decisions/',
}))
