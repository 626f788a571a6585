// expect: fails
const again = { [Symbol.dispose ?? "x"]() { for (;;); } };
{ (Symbol.dispose ? again[Symbol.dispose] : again.x)() }
