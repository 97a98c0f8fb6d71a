module.exports = { mode: 0755, notOctal: 089 };
