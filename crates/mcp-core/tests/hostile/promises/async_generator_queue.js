// expect: fails
async function* slow() { yield await new Promise(() => {}) }
const it = slow();
for (;;) it.next();
