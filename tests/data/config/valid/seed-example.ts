import { defineConfig } from 'inkan';

export default defineConfig({
  title: 'Example decisions',
  url: 'https://decisions.example.com',
  contentDir: 'content',
  sources: [
    { dir: '../other/decisions', project: 'payments' },
    { repo: 'git@github.com:example/platform.git', ref: 'main', path: 'docs/decisions' },
  ],
  statuses: {
    accepted: { current: true, label: 'Accepted' },
    proposed: { open: true },
  },
  transforms: [
    (record) => ({ ...record, title: record.title.replace(/^\[(.*)\]\s*/, (_, x) => `${x}: `) }),
  ],
});
