import { defineConfig } from 'inkan'

const dir = 'content' // comment
export default defineConfig({
  contentDir: dir,
  text: `a
b`,
})
