// expect: any
for (const name of ["iterator", "asyncIterator", "toPrimitive", "species", "toStringTag", "hasInstance"]) {
  try { Object.defineProperty(Symbol, name, { value: Symbol("other") }) } catch {}
}
globalThis.Symbol = new Proxy(Symbol, { get() { throw new Error("no symbols") } });
return [...(await api.request("GET", "/core/users/")).data.results].length;
