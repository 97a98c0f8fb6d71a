export default {
  contentDir: `content,
}
