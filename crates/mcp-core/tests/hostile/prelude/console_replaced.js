// expect: any
globalThis.console = { log: api.request };
return console.log("GET", "/core/users/").then((it) => it.status);
