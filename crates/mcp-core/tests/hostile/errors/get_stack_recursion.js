// expect: fails
const error = new Error("x");
Object.defineProperty(error, "stack", { get() { return error.stack } });
throw error;
