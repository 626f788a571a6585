// expect: any
const it = Array.from({ length: 1e4 }, (_, n) => n);
it.sort((a, b) => { it.length = 0; it.push(a, b); return b - a });
return it.length;
