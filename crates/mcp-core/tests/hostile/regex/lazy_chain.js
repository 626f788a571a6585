// expect: fails
return /^(.*?,){30}P/.test("1,".repeat(45));
