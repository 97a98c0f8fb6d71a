import { defineConfig } from 'vite'

export default defineConfig({
  contentDir: 'adr',
  server: {
    port: 0x1F90,
    proxy: {
      '^/api/.*': {
        target: 'http://localhost:3000',
        changeOrigin: true,
        rewrite: (path) => path.replace(/^\/api\/["'`{]/, ''),
        configure: (proxy, options) => { proxy.on('error', err => { throw err }) },
      },
    },
  },
  define: { __VERSION__: JSON.stringify('1.0.0') },
})
