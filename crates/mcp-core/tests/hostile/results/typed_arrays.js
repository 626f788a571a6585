// expect: any
return [new Uint8Array(1e6), new Float64Array(1e5), new ArrayBuffer(1e6), new DataView(new ArrayBuffer(8))];
