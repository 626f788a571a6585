// expect: fails
return await api.request("GET", "/" + "a/".repeat(2e6));
