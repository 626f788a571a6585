// expect: fails
return new Proxy([], { get: (target, key) => (key === "length" ? 2 ** 32 - 1 : 0) });
