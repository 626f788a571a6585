// expect: fails
const it = new Array(5e6).fill(0);
for (;;) it.copyWithin(1, 0);
