// expect: fails
return "x".repeat(17 << 20);
