// expect: fails
const trap = new Proxy(function () {}, { get: () => trap, has: () => true, ownKeys: () => ["a", "b"], getOwnPropertyDescriptor: () => ({ value: trap, enumerable: true, configurable: true }), apply: () => trap });
return await api.request(trap, trap, trap);
