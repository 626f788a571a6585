// expect: fails
const C = { [Symbol.hasInstance]: (it) => it instanceof C };
return {} instanceof C;
