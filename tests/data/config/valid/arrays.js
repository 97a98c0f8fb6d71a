module.exports = {
  empty: [], trailing: [1, 2,], holes: [1, , 3], onlyHoles: [,,], nested: [[[]], [[1]]],
  mixed: [1, 'two', null, undefined, true, { three: 3 }, [4]],
  multiline: [
    'a', // first
    /* second */ 'b',
  ],
};
