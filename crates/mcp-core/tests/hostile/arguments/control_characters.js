// expect: fails
return await api.request("GET", "/core/users/\r\nHost: elsewhere\r\n\r\n", { headers: { "Accept\r\nX": "1" } });
