// expect: fails
return "x".repeat(3e4).replace(/x+/, "$&".repeat(3e4));
