// expect: fails
const all = [];
for (;;) all.push(new Float64Array(1e6));
