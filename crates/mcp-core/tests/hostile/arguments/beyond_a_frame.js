// expect: fails
return await api.request("GET", "/core/users/", { query: { a: "x".repeat(17e6) } });
