// expect: fails
const it = [];
it[2 ** 31] = 1;
it.sort();
it.reverse();
for (;;) it.sort().reverse();
