// expect: any
const buffer = new ArrayBuffer(1024);
const view = new Uint8Array(buffer);
try { view.sort(() => { buffer.transfer(); return 1 }) } catch (error) { return error.name }
return view.length;
