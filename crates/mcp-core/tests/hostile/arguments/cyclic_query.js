// expect: fails
const query = {};
query.query = query;
return await api.request("GET", "/core/users/", { query });
