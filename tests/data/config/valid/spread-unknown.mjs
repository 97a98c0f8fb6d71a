import base from './base.mjs';
export default {
  title: 'may be replaced',
  ...base,
  contentDir: 'content',
};
