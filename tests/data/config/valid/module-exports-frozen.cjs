'use strict'
module.exports = Object.freeze({ contentDir: 'content', statuses: Object.freeze({ a: { open: true } }) })
