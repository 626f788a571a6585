// expect: fails
return /((x+x+)+y)+z/.test("x".repeat(60));
