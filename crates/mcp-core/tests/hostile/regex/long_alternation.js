// expect: any
return new RegExp(Array.from({ length: 2e4 }, (_, n) => `w${n}`).join("|")).test("w19999");
