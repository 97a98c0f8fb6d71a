module.exports = { ['__proto__']: 'own', constructor: 'c', toString: 't', contentDir: 'content' };
