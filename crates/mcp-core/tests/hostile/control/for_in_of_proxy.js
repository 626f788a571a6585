// expect: fails
let n = 0;
for (const key in new Proxy({}, { ownKeys: () => { for (;;) n++ } }));
