// expect: fails
const grow = (it) => Promise.resolve([it, new Array(1000).fill(it)]).then(grow);
await grow(0);
