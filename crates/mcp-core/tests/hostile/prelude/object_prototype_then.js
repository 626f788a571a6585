// expect: any
Object.prototype.then = function (resolve) { resolve("hijacked") };
return (await api.request("GET", "/core/users/")).status;
