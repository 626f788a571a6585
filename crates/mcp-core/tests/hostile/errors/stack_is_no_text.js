// expect: fails
throw Object.assign(new Error("x"), { stack: new Proxy([], {}) });
