// expect: fails
const all = [];
for (;;) all.push(...("x".repeat(1e4).matchAll(/x/gd)));
