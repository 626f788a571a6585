// expect: fails
let it = ["x"];
for (let n = 0; n < 60; n++) it = [it, it];
return it;
