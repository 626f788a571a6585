// expect: fails
const buffer = new ArrayBuffer(8, { maxByteLength: 2 ** 30 });
const view = new Uint8Array(buffer);
for (let n = 1; ; n *= 2) { buffer.resize(n); view.fill(1) }
