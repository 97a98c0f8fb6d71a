const inner = { dir: 'a' };
const outer = { inner };
outer.inner.dir = 'b';
export default { contentDir: inner.dir, title: 'x' };
