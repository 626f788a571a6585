// expect: fails
return "x".repeat(1e5).replaceAll("x", "y".repeat(1e5));
