// expect: fails
return { then(resolve) { resolve({ then(next) { next({ then() {} }) } }) } };
