// expect: any
try { return Function(...Array.from({ length: 7e4 }, (_, n) => `p${n}`), "return 1")() } catch (error) { return error.name }
