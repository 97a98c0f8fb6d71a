module.exports = ((({ contentDir: ('content'), title: (('x')) })));
