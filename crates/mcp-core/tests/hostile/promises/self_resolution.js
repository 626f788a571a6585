// expect: fails
let resolve;
const it = new Promise((go) => { resolve = go });
resolve(it);
await it;
