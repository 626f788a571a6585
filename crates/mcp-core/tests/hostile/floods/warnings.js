// expect: any
return Array.from({ length: 1e4 }, () => Promise.resolve());
