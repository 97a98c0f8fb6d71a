const dir = 'docs';
const tag = (s) => s;
module.exports = {
  contentDir: `${dir}/decisions`,
  nested: `a${`b${`c${dir}`}`}`,
  object: `${{ a: '}' }.a}`,
  brace: `${'}'}{`,
  crlf: `x$y$$z`,
  unknown: `a ${process.title} b ${`nested ${process.pid}`} }`,
  fn: () => `${[1, 2].map((x) => `<li>${x}</li>`).join('')}`,
  tagged: tag`x`,
};
