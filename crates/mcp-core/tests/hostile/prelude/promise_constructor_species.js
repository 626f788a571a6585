// expect: any
Object.defineProperty(Promise, Symbol.species, { get() { return function (go) { go(() => {}, () => {}) } } });
Promise.prototype.constructor = class { constructor(go) { go((it) => console.log("resolved", it), () => {}) } };
return await api.request("GET", "/core/users/").then((it) => it.status);
