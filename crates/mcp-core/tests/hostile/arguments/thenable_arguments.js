// expect: any
return await api.request({ then(resolve) { resolve("GET") } }, "/core/users/").catch((error) => error.name);
