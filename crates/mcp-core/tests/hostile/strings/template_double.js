// expect: fails
let it = "x";
for (;;) it = `${it}${it}`;
