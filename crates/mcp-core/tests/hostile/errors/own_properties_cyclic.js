// expect: fails
const error = new Error("round");
error.self = error;
throw error;
