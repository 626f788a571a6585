// expect: fails
const never = new Promise(() => {});
for (;;) await Promise.race([never, Promise.resolve(1)]);
