const a = 1
const b = "x
export default { b }
