// expect: fails
return /^(?:\u212a|k|K|ſ|s)+$/iu.test("kKſ".repeat(30) + "!") || /(\w+\s*)+$/iu.test("k".repeat(60) + "!");
