export default {
  sources: [{ dir: '../a' ],
}
