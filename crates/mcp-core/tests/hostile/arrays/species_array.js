// expect: fails
class Mine extends Array { static get [Symbol.species]() { return function () { return new Proxy([], { set() { for (;;); }, defineProperty() { for (;;); } }) } } }
return Mine.from([1, 2]).map((it) => it);
