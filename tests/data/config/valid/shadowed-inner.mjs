const title = 'outer';
const options = { a: 1 };
function build() {
  const options = {};
  options.a = 2;
  for (const title of []) { options[title] = 1; }
  return options;
}
export default { title, options, contentDir: 'content', build };
