import { defineConfig } from 'astro/config';
import mdx from '@astrojs/mdx';
import sitemap from '@astrojs/sitemap';
import { remarkAdr } from './plugins/remark-adr.mjs';

export default defineConfig({
	site: 'https://example.com',
	title: "Engineering decisions",
	contentDir: "decisions",
	integrations: [mdx(), sitemap({ filter: (page) => !page.includes('/drafts/') })],
	markdown: {
		remarkPlugins: [remarkAdr, [remarkAdr, { depth: 2 }]],
		shikiConfig: { theme: 'github-dark', langs: [], wrap: true },
	},
	vite: {
		ssr: { noExternal: ['@fontsource/*'] },
		build: { rollupOptions: { external: [/^node:/, /\.node$/] } },
	},
	sources: [
		{ dir: '../payments/docs/decisions', project: 'payments' },
		{ repo: 'https://github.com/example/platform.git', ref: 'main', path: 'docs/adr', project: 'platform' },
	],
});
