// expect: any
const it = [1, 2, 3];
return it.map((n) => { it.push(n); it.shift(); return n }).concat(it).length;
