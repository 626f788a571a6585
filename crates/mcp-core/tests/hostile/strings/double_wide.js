// expect: fails
let it = "ü€";
for (;;) it = it + it.slice(1);
