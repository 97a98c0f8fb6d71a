export default { contentDir: 'content' }
