const config = { contentDir: 'content' };
extend(config);
export default config;
function extend(target) { target.contentDir = 'changed'; }
