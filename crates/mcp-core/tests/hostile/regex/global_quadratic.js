// expect: fails
return "a".repeat(3e5).replace(/a*b/g, "");
