// expect: fails
return "ab".repeat(2 ** 29 - 25).length;
