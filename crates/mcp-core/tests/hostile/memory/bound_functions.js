// expect: fails
let it = Math.max;
for (;;) it = it.bind(null, 1, 2, 3);
