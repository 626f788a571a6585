// expect: any
let deep = [];
for (let n = 0; n < 2000; n++) deep = [deep];
return deep;
