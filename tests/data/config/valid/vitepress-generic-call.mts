import { defineConfigWithTheme } from 'vitepress'
import type { ThemeConfig } from 'inkan-theme'
import baseConfig from 'inkan-theme/config'

export default defineConfigWithTheme<ThemeConfig<'dark' | 'light', Record<string, unknown>>>({
  extends: baseConfig,
  lang: 'en-US',
  title: 'Inkan',
  contentDir: 'content',
  srcExclude: ['tutorial/**/description.md'],
})
