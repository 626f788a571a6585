// expect: fails
const all = [];
for (;;) all.push(await api.request("GET", "/core/users/").catch(() => new Array(1e4).fill(0)));
