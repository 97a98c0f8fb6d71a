// export default { contentDir: 'content' }
const text = 'export default {}'
