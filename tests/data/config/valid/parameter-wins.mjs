const mode = 'outer';
export default (({ mode }) => ({ contentDir: 'content', title: mode }))
