// expect: fails
await sleep(Infinity);
