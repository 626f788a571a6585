// expect: fails
const error = new Error("x");
error.name = "N".repeat(1e7);
throw error;
