// expect: fails
await Promise.all([1, api.request("GET", "/core/users/"), new Promise(() => {})]);
