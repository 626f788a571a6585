// expect: any
try { return new RegExp("((((a{0,99}){0,99}){0,99}){0,99}){0,99}b").test("a".repeat(30)) } catch (error) { return error.name }
