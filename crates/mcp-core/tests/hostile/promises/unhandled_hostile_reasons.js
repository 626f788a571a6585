// expect: any
Promise.reject(new Proxy({}, { get() { throw new Error("gotcha") } }));
Promise.reject({ toString() { for (let n = 0; n < 1e4; n++); throw 1 } });
Promise.reject(Object.assign(new Error("x".repeat(5e6)), { y: "y".repeat(5e6) }));
Promise.reject(Symbol("s"));
Promise.reject(null);
return 1;
