// expect: fails
const it = { length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true };
return [].concat(it, it);
