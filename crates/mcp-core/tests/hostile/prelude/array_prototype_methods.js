// expect: any
for (const name of Object.getOwnPropertyNames(Array.prototype)) {
  if (typeof Array.prototype[name] === "function") Array.prototype[name] = () => { throw name };
}
console.log("still", "here");
return (await api.request("GET", "/core/users/")).status;
