const base = { contentDir: 'old', title: 'Base', nested: { a: 1 } };
const more = { ...base, title: 'More' };
export default { ...more, contentDir: 'new', ...{ url: 'https://x.example' }, ...null, ...[] };
