// expect: any
return Array.from({ length: 3e5 }, (_, n) => n);
