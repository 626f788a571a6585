// expect: fails
Object.prototype.then = function (resolve) { resolve({}) };
return await {};
