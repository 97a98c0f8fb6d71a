import config from './shared.mjs'
export default config
