import { defineConfig, type DefaultTheme } from 'vitepress'

// https://vitepress.dev/reference/site-config
export default defineConfig({
  title: "Decision log",
  description: "What we decided, and why",
  contentDir: 'records',
  cleanUrls: true,
  head: [
    ['link', { rel: 'icon', href: '/favicon.svg' }],
    ['script', {}, `window.dataLayer = window.dataLayer || []; function gtag() { dataLayer.push(arguments) }`],
  ],
  themeConfig: {
    nav: nav(),
    sidebar: { '/adr/': { base: '/adr/', items: sidebarAdr() } },
    editLink: {
      pattern: ({ filePath }) => {
        if (filePath.startsWith('sre/')) {
          return `https://github.com/example/sre/edit/main/${filePath}`
        } else {
          return `https://github.com/example/docs/edit/main/${filePath}`
        }
      }
    },
    footer: { message: 'MIT', copyright: `Copyright © ${new Date().getFullYear()} Example` }
  },
  transformPageData(pageData) {
    pageData.frontmatter.head ??= []
    pageData.title = pageData.title.replace(/^ADR[-\s]?(\d+)[:/]/, '')
  }
})

function nav(): DefaultTheme.NavItem[] {
  return [
    { text: 'Records', link: '/adr/', activeMatch: '/adr/' },
  ]
}

function sidebarAdr(): DefaultTheme.SidebarItem[] {
  return [{ text: 'All', collapsed: false, items: [] }]
}
