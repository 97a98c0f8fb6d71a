import { withMermaid } from 'vitepress-plugin-mermaid'
import { defineConfig } from 'vitepress'

export default withMermaid(
  defineConfig({
    contentDir: 'content',
    mermaid: { theme: 'forest' },
  }),
)
