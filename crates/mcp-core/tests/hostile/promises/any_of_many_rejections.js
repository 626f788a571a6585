// expect: fails
return await Promise.any(Array.from({ length: 1e5 }, (_, n) => Promise.reject(new Error(`no ${n}`))));
