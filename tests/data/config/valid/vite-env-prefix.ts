/// <reference types="vitest" />
import { defineConfig } from 'vite'
import { fileURLToPath, URL } from 'node:url'

const root = fileURLToPath(new URL('./', import.meta.url))

export default defineConfig({
  contentDir: process.env.INKAN_CONTENT ?? 'content',
  title: `${process.env.npm_package_name} decisions`,
  resolve: { alias: { '@': root, '~': fileURLToPath(new URL('./src', import.meta.url)) } },
  sources: process.env.CI ? [] : [{ dir: '../local' }],
  test: { include: ['src/**/*.{test,spec}.?(c|m)[jt]s?(x)'] },
})
