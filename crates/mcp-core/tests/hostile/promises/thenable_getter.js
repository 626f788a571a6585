// expect: fails
let n = 0;
return await { get then() { if (n++ < 3) return (resolve) => resolve(this); for (;;); } };
