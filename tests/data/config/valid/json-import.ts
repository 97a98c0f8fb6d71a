import pkg from './package.json' with { type: 'json' }
import data = require('./data')
export default { contentDir: 'content', title: pkg.name, data, version: `v${pkg.version}` }
