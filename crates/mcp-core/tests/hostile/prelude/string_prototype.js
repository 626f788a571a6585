// expect: any
for (const name of Object.getOwnPropertyNames(String.prototype)) {
  try { String.prototype[name] = () => "x".repeat(10) } catch {}
}
globalThis.String = () => "everything";
console.log({ a: 1 }, "b");
return (await api.request("GET", "/core/users/")).status;
