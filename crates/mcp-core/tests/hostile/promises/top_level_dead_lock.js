// expect: fails
const a = (async () => { await b })();
const b = a;
await Promise.all([a, new Promise((go) => a.finally(() => a.then(go)))]).then(() => new Promise(() => {}));
