// expect: fails
const it = new Proxy({}, { get: (target, key, receiver) => receiver[key] });
return it.x;
