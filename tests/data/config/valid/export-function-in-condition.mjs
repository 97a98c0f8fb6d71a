const make = function () { return { contentDir: 'not this' } } ? { contentDir: 'this' } : null;
export default make;
