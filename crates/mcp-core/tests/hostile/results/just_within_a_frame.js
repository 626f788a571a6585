// expect: any
return "x".repeat(15 << 20);
