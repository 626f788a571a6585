// expect: fails
return new DataView(new ArrayBuffer(8)).getFloat64(2 ** 53 - 1);
