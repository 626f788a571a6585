// expect: fails
Object.prototype.toJSON = function () { for (;;); };
return { a: 1 };
