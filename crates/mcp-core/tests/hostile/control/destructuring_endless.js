// expect: fails
const [...all] = { *[Symbol.iterator]() { for (;;) yield {} } };
