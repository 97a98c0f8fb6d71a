const name = 'inkan', version = 2
export default {
  concat: 'a' + 'b' + "c",
  multiline:
    'a long ' +
    'description ' +
    `of ${name}`,
  mixed: 'v' + version + '.' + 0.5 + true,
  sum: 1 + 2 + 'x' + 1 + 2,
  grouped: 'x' + (1 + 2),
  or: '' || 'fallback',
  orLeft: 'left' || unknownCall(),
  nullish: null ?? 'd',
  nullishZero: 0 ?? 1,
  and: true && 'yes',
  andFalse: 0 && unknownCall(),
  not: !true, notNot: !!'x', empty: ![],
  ternary: version ? 'on' : 'off',
  nested: false ? 1 : null ? 2 : { three: 3 },
  voided: void 0,
  float: 0.1 + 0.2,
}
function unknownCall() { return 1 }
