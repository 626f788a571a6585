// expect: any
return { ["k".repeat(5e6)]: 1 };
