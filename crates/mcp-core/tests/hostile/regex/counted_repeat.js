// expect: any
try { return new RegExp("(?:a{1000}){1000}").test("a".repeat(1e6)) } catch (error) { return error.name }
