// expect: fails
const it = { [Symbol.iterator]: () => ({ next: () => ({ value: 1 }), return() { throw new Error("not so fast") } }) };
for (;;) { try { for (const n of it) break } catch {} }
