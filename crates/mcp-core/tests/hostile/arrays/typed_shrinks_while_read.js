// expect: any
const buffer = new ArrayBuffer(1024, { maxByteLength: 1024 });
const view = new Uint8Array(buffer);
return view.map((n, at) => { if (at === 10) buffer.resize(16); return 1 }).length;
