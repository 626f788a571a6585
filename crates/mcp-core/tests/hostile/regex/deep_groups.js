// expect: any
try { return new RegExp("(".repeat(5e4) + ")".repeat(5e4)).test("") } catch (error) { return error.name }
