// expect: any
let it = [];
for (let n = 0; n < 500; n++) it = [it, n, "text", null, { n }];
return it;
