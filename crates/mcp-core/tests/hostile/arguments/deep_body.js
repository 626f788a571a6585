// expect: fails
let body = {};
for (let n = 0; n < 5000; n++) body = { body };
return await api.request("GET", "/core/users/", { query: { body } });
