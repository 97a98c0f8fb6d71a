import { KEY } from './keys.mjs'
export default { title: 'before', [KEY]: 1, [`x${KEY}`]: 2, contentDir: 'after' }
