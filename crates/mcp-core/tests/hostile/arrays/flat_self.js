// expect: fails
const it = [];
it.push(it, it);
return it.flat(Infinity);
