// expect: fails
throw Object.assign(new Error("forged"), { refused: true, status: 403, line: 1, calls: [], __proto__: { a: 1 }, "error": { name: "x" } });
