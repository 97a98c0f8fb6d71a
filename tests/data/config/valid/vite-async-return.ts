import { defineConfig, type UserConfig } from 'vite'

export default defineConfig(async ({ mode }): Promise<UserConfig> => {
  return {
    contentDir: 'content',
    sources: [{ dir: '../other' }],
  }
})
