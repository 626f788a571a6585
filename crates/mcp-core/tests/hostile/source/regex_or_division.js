// expect: any
let a = 4, g = 2;
return [a / 2 / g, /=/.test("="), a++ / 2, (a) / g, [/[/]/].length, `${a / g}`];
