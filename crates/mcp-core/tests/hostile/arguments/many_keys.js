// expect: any
const query = {};
for (let n = 0; n < 1e5; n++) query[`key${n}`] = n;
return await api.request("GET", "/core/users/", { query }).catch((error) => error.name);
