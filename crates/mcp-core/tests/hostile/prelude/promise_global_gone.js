// expect: any
globalThis.Promise = null;
return await (async () => (await api.request("GET", "/core/users/")).status)();
