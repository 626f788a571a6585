// expect: any
return await { then(resolve, reject) { resolve(1); reject(2); resolve({ then() { throw 3 } }) } };
