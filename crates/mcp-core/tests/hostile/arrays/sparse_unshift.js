// expect: fails
const it = [];
it.length = 2 ** 32 - 2;
it[5] = 1;
it.unshift(0);
for (;;);
