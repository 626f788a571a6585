// expect: any
for (let index = 0; index < 64; index++) {
  Object.defineProperty(Array.prototype, index, { set(value) { globalThis.caught = [value] }, get: () => "hole" });
}
const { status } = await api.request("GET", "/core/users/");
return [status, typeof globalThis.caught];
