// expect: fails
await new Promise(() => {});
