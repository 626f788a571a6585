// expect: any
const a = 1, b = 2, c = 3;
return [a < b, b > (c), f<number>(1), a<b>(c)];
function f(x) { return x }
