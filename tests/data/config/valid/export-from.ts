export { default } from './shared/inkan.config'
