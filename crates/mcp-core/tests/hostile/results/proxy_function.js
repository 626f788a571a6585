// expect: any
return new Proxy(() => 1, { get: () => { throw new Error("trapped") }, apply: () => ({ then() {} }) });
