type Dir = `./${string}`
const contentDir: Dir = './decisions'
const config: Partial<Record<string, unknown>> = { contentDir, title: 'x' }
export { config as default, type Dir }
