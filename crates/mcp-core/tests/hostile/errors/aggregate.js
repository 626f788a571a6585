// expect: fails
throw new AggregateError(Array.from({ length: 1e5 }, (_, n) => new Error(`${n}`)), "all");
