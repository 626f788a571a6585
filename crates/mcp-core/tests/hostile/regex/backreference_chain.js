// expect: any
return /^(.*)(.*)(.*)(.*)\1\2\3\4x$/.test("ab".repeat(60));
