// expect: fails
throw { rows: Array.from({ length: 1e5 }, (_, n) => ({ n, text: "x".repeat(50) })) };
