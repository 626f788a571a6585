// expect: any
const make = (async () => {}).constructor;
return await make("return [typeof process, typeof require, typeof module, typeof globalThis.fetch]")();
