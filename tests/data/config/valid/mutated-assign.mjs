const base = { contentDir: 'content' };
Object.assign(base, { contentDir: 'other' });
const list = [{ dir: 'a' }];
list.push({ dir: 'b' });
const safe = { title: 'safe' };
Object.assign({}, safe);
console.log(safe, Object.keys(safe));
const text = 'docs';
join(text);
export default { sources: list, ...safe, base: base.contentDir, contentDir: text };
function join(...parts) { return parts.join('/'); }
