// expect: fails
const error = new Error("x");
error.stack = "    at evil (user.js:999999999999:1)\n".repeat(1e5);
throw error;
