// expect: fails
const it = [1];
for (const n of it) it.push(n);
