// expect: any
const buffer = new ArrayBuffer(64);
buffer.transfer();
return [buffer];
