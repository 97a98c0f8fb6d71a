export default new Config({ contentDir: 'content' })
