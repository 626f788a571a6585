// expect: any
const map = new Map();
map.set(map, map);
return new Map([[{ a: 1 }, new Map([["b", new Set([1, [2]])]])]]);
