// expect: fails
for (const name of ["name", "message", "stack", "toJSON"]) {
  Object.defineProperty(Error.prototype, name, { get() { throw this }, configurable: true });
}
await api.request("GET", "/no/such/place/");
