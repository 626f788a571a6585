// expect: fails
const a = new Error("a"), b = new Error("b", { cause: a });
a.cause = b;
throw a;
