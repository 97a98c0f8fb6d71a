let contentDir = 'content';
if (globalThis.CI) contentDir = 'ci';
let title = 'never changed';
let count = 0;
count++;
for (let i = 0; i < 3; i++) { count += i; }
export default { contentDir, title, count };
