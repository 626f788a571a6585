// expect: fails
const it = 7n ** 200000n;
for (;;) it.toString(10);
