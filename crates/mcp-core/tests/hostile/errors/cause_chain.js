// expect: fails
let error = new Error("root");
for (let n = 0; n < 1e5; n++) error = new Error(`level ${n}`, { cause: error });
throw error;
