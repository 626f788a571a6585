// expect: fails
let it = { a: [1, { b: new Map([[1, 2]]) }] };
for (;;) it = { it, copy: structuredClone(it) };
