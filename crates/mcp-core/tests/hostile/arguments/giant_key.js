// expect: any
return await api.request("GET", "/core/users/", { query: { ["k".repeat(3e6)]: 1 } }).catch((error) => error.name);
