// expect: fails
const it = { [Symbol.toPrimitive]() { return +it } };
return +it;
