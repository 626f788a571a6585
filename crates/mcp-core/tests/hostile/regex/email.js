// expect: fails
return /^([a-zA-Z0-9]+[._-]?)+@example\.com$/.test("a".repeat(60) + "!");
