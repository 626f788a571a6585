// expect: fails
const it = /a/g;
Object.defineProperty(it, "lastIndex", { get: () => 0, set() {} });
return "aaa".replace(it, "b");
