// expect: fails
return /^(?=(a+)+$)b/.test("a".repeat(50) + "c");
