const shared = { dir: 'docs', 'with-dash': ['a', { b: 'c' }], 1: 'one' };
export default {
  contentDir: shared.dir,
  a: shared['dir'],
  b: shared['with-dash'][1].b,
  c: shared[1],
  d: shared?.dir,
  e: shared?.['with-dash']?.[0],
};
