const key = 'computed';
const n = 7;
module.exports = {
  plain: 1,
  'single quoted': 2,
  "double \"quoted\"": 3,
  42: 4,
  0x10: 5,
  1e3: 6,
  .5: 7,
  ['literal']: 8,
  [key]: 9,
  [`${key}-${n}`]: 10,
  [n]: 11,
  $dollar: 12,
  _under: 13,
  ünïcode: 14,
  class: 15, default: 16, get: 17, set: 18, async: 19, static: 20, of: 21, new: 22, null: 23, true: 24,
  '': 25,
};
