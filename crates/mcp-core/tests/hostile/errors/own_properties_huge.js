// expect: fails
throw Object.assign(new Error("much"), { log: "x".repeat(2e6), more: Array.from({ length: 1e5 }, (_, n) => n) });
