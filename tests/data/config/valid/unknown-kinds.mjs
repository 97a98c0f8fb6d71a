import imported, { named, other as renamed } from './x.mjs'
import * as all from './y.mjs'
class Local {}
function helper() {}
const { taken } = all
const [first] = [1]
let later
const loop = pool, pool = loop
export default {
  imported, named, renamed, x: all.deep.value, Local, helper, taken, first, later, loop,
  undefinedName, call: helper('x'), method: 'a'.toUpperCase(), chain: [1].map(x => x).join(','),
  made: new Map([['a', 1]]), url: new URL('./x', import.meta.url), bare: new Date,
  regex: /a,b/g, arrow: x => ({ a: 1, b: 2 }), async: async () => {}, asyncName: async x => x,
  fn: function () { return { a: 1 } }, gen: function* () {}, cls: class extends Local { a = 1 },
  tagged: String.raw`x${1}y`, member: [1, 2].length, missing: { a: 1 }.b, self: this.x,
  contentDir: 'content',
}
