const flag = !/re[/]'/.test('x');
module.exports = { contentDir: `${!/`/.test('') ? 'content' : '}'}`, flag, list: [!/[,]"/g, 1] };
