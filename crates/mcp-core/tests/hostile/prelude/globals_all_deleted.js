// expect: any
for (const name of Object.getOwnPropertyNames(globalThis)) { try { delete globalThis[name] } catch {} }
return (await api.request("GET", "/core/users/")).status;
