// expect: any
try { Object.setPrototypeOf(api, new Proxy({}, { get: () => () => "forged" })) } catch {}
return [typeof api.steal, Object.isFrozen(api), Object.getPrototypeOf(api) === Object.prototype];
