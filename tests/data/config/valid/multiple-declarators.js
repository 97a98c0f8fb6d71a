var a = 'x', b = [1, 2], c, d = { e: a + '/y', f: function () { return [a, b] } },
  g = d.e;
module.exports = { contentDir: g, b, a };
