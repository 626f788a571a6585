// expect: any
const it = {};
for (let n = 0; n < 2e5; n++) it["key" + n] = n;
return it;
