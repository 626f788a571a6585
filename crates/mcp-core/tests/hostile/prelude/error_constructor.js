// expect: any
globalThis.Error = class { constructor() { throw "no errors here" } };
globalThis.TypeError = globalThis.RangeError = globalThis.Error;
return await api.request("GET", "/no/such/place/").catch((error) => [typeof error, error.name]);
