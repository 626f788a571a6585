// expect: fails
let n = 0;
const endless = new Proxy({}, { ownKeys: () => Array.from({ length: 1e6 }, () => `k${n++}`), getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) });
for (;;) await api.request("GET", "/core/users/", { query: endless }).catch(() => {});
