// expect: fails
return await api.request("GET", "/core/users/../../../../etc/passwd");
