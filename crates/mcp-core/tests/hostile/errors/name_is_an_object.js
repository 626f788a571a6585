// expect: fails
throw Object.assign(new Error("x"), { name: { toString: () => ({}) }, message: Symbol("m") });
