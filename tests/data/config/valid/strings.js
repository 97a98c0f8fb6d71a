module.exports = {
  single: 'it\'s "fine"',
  double: "say \"hi\" it's",
  escapes: '\n\t\r\b\f\v\0\\\/\a',
  hex: '\x41\x7e',
  unicode: '\u0041\u{1F600}\u{41}',
  pair: '\ud83d\ude00',
  continued: 'one \
two \
three',
  template: `multi
line \`quoted\` \${not a hole} $ {neither} $`,
  comment: 'http://x /* no */ // no',
  braces: '{[(`)]}',
  empty: '',
  emptyTemplate: ``,
  spaces: '  padded  ',
  separators: '\u2028',
};
