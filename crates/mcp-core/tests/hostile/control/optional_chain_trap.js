// expect: fails
const it = new Proxy({}, { get: () => it });
for (;;) it?.a?.b?.c?.d;
