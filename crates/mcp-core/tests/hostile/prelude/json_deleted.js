// expect: any
delete globalThis.JSON;
return [typeof JSON, (await api.request("GET", "/core/users/")).ok];
