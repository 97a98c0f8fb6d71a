import { defineConfig } from 'inkan'

export default defineConfig({
  contentDir: 'content',
  statuses: {
    draft: { open: true, label: 'Draft' },
    'in-review': { open: true, label: 'In review' },
    accepted: { current: true, label: 'Accepted', color: '#2da44e' },
    superseded: { current: false, open: false },
  },
  types: {
    adr: { label: 'Architecture decision', requiredApprovals: 2 },
    rfc: { requiredApprovals: 3, template: './templates/rfc.md' },
  },
  fields: {
    cost: { type: 'number', label: 'Cost (€)' },
    owner: { type: 'string', required: true },
    systems: { type: 'list', options: ['api', 'web', 'data'] },
  },
  review: { every: '6 months' },
})
