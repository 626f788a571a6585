// expect: fails
const it = new Array(2e6).fill(0);
for (;;) it.splice(1e6, 1, 1, 2).length && it.splice(1e6, 1);
