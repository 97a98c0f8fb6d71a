const text = 'ab';
export default { contentDir: 'content', letters: [...text, 'c'], ...'' };
