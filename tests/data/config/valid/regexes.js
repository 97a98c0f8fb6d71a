const half = 10 / 2 / 1;
if (half) /re'gex/.test('x');
module.exports = {
  a: /"/, b: /'/g, c: /`/u, d: /[/]/, e: /\//, f: /[\]/"]{2,}/gim, g: /a|b,c/,
  h: [/x/, /y,"/], i: 4 / 2, j: x => x / 2 / "1", k: (1) / 2, l: [1][0] / 2,
  m() { return /}/.test(this) }, n: () => { return /[{]/ },
  o: `${/`/.test('x') ? '`' : /}/}`,
  contentDir: 'content',
};
