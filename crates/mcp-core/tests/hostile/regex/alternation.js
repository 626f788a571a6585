// expect: fails
return /^(a|aa|aaa|a|aa)+$/.test("a".repeat(80) + "b");
