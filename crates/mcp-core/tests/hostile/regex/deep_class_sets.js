// expect: any
try { return new RegExp("[".repeat(2e4) + "a" + "]".repeat(2e4), "v").test("a") } catch (error) { return error.name }
