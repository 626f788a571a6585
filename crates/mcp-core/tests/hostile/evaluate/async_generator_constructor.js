// expect: fails
const make = Object.getPrototypeOf(async function* () {}).constructor;
for await (const it of make("for (;;) yield 1")());
