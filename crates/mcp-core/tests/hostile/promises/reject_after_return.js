// expect: any
setTimeout(() => { throw new Error("after the end") }, 1);
api.request("GET", "/no/such/place/");
return "done";
