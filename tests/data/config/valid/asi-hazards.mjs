const a = 'x'
const b = a
;[1, 2].forEach((n) => n)
let c = 'y'
++globalThis.counter
const d = 'z'
/* comment */
export default { contentDir: b, c, d }
