// expect: any
return await api.request("GET", "/core/users/", { query: { search: "\ud800\udc00\ud800" } }).then((it) => it.status, (error) => error.name);
