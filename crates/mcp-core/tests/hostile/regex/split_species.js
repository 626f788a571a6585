// expect: fails
class Mine extends RegExp { static get [Symbol.species]() { return function () { return { exec: () => null, set lastIndex(n) {}, get lastIndex() { return 0 } } } } }
for (;;) "abc".split(new Mine("b"));
