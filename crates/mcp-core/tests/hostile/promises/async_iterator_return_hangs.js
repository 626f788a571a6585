// expect: fails
const source = { [Symbol.asyncIterator]: () => ({ next: async () => ({ value: 1 }), return: () => new Promise(() => {}) }) };
for await (const it of source) break;
