// expect: any
Object.prototype.toJSON = function () { return { toJSON: undefined, all: "mine", n: Object.keys(this).length } };
return await api.request("GET", "/core/users/", { query: { search: "a" } });
