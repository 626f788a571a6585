// expect: fails
return "\u0001".repeat(4e6);
