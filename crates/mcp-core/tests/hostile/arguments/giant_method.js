// expect: fails
return await api.request("G".repeat(12e6), "/core/users/");
