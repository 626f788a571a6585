// expect: any
const options = { get query() { api.request("GET", "/core/users/", options); return {} } };
return await api.request("GET", "/core/users/", options);
