// expect: any
return /(?<=(a|a)+)c$/.test("a".repeat(50) + "b");
