module.exports = require('./config.base.js')
