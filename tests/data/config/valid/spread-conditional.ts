const isProd = process.env.NODE_ENV === 'production'
export default {
  title: 'x',
  ...(isProd && { url: 'https://prod.example' }),
  contentDir: 'content',
  ...(true ? { sources: [{ dir: '../b' }] } : {}),
}
