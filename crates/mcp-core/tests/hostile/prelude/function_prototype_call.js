// expect: any
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw new Error("uncallable") };
console.log([1, 2, 3]);
return (await api.request("GET", "/core/users/")).status;
