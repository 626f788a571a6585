// expect: fails
const it = "x".repeat(5e6);
for (;;) it.split("");
