const plugin = import('./plugin.mjs');
import.meta.hot;
export default { contentDir: 'content', plugins: [plugin, import('x').then((m) => m.default)] };
