// expect: any
console.log("x".repeat(3e7));
return 1;
