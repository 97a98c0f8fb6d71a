import a from 'a'
const dir = 'docs'
const list = [1, 2]
let name = 'x'
export const extra = { dir }
export default {
  contentDir: dir,
  list,
  name
}
function later() { return dir }
