// expect: any
const it = { get again() { console.log(it); return 1 } };
console.log(it);
return 1;
