// expect: fails
const it = { toJSON() { return api.search(it) } };
return api.search(it);
