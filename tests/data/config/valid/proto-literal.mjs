const base = { contentDir: 'content' };
export default { title: 'x', __proto__: { url: 'inherited' }, a: base.toString, b: base.hasOwnProperty };
