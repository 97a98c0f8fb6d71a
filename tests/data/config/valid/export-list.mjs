export default [{ contentDir: 'content' }]
