// expect: fails
const step = (n) => ({ then: (resolve) => resolve(step(n + 1)) });
return await step(0);
