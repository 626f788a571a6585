// expect: any
const prototype = Object.getPrototypeOf([][Symbol.iterator]());
prototype.next = () => ({ done: false, value: "forever" });
return (await api.request("GET", "/core/users/", { query: { page: 1 } })).status;
