export default { contentDir: `a${'b'` }
