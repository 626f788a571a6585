// expect: fails
console.table({ *[Symbol.iterator]() { for (;;) yield [1] } });
