// expect: any
const real = setTimeout;
globalThis.setTimeout = globalThis.sleep = () => { throw new Error("no time") };
return await new Promise((resolve) => real(() => resolve("late"), 5));
