export default { contentDir: 'first', title: 'x', contentDir: 'last' }
