const local = true
export default local ? { contentDir: 'content' } : { contentDir: 'ci' }
