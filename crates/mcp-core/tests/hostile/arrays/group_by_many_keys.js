// expect: any
return Object.keys(Object.groupBy(Array.from({ length: 1e5 }, (_, n) => n), (n) => `k${n}`)).length;
