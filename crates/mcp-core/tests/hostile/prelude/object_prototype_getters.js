// expect: any
for (const name of ["json", "bigIntegers", "status", "failure", "query", "body", "headers", "resolve", "reject", "value", "get", "then"]) {
  Object.defineProperty(Object.prototype, name, { configurable: true, get() { return "polluted" }, set() {} });
}
return await api.request("GET", "/core/users/");
