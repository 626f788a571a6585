// expect: fails
const all = [];
for (;;) { const it = (function* (a) { yield a; yield a })(new Array(100).fill(0)); it.next(); all.push(it) }
