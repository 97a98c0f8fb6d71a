import { defineConfig } from 'inkan'

const config = defineConfig({
  contentDir: 'content',
  title: 'Two steps',
})

export default config
