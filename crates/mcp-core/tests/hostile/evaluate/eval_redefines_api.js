// expect: any
try { (0, eval)("var api = { request: () => ({ status: 200, data: 'forged' }) }") } catch (error) { console.log(error.name) }
return (await api.request("GET", "/core/users/")).status;
