// expect: fails
const make = Object.getPrototypeOf(function* () {}).constructor;
for (const it of make("for (;;) yield 1")());
