// expect: fails
const then = Promise.prototype.then;
Promise.prototype.then = function (...values) { for (;;); return then.apply(this, values) };
return await Promise.resolve(1).then((it) => it);
