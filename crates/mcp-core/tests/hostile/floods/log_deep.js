// expect: any
let deep = [];
for (let n = 0; n < 1e5; n++) deep = [deep];
console.log(deep);
return 1;
