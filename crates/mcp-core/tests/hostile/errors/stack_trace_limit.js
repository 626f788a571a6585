// expect: fails
Error.stackTraceLimit = 1e9;
const deep = (n) => (n ? deep(n - 1) : missing.name);
deep(2000);
