// expect: fails
return Array.prototype.with.call({ length: 2 ** 53 - 1 }, 0, 1);
