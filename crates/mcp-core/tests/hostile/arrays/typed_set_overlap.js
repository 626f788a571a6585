// expect: fails
const view = new Uint8Array(8e6);
for (;;) view.set(view.subarray(0, 7e6), 1e6);
