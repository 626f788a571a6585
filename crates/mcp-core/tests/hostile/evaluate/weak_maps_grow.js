// expect: fails
const map = new WeakMap(), keep = [];
for (;;) { const key = {}; keep.push(key); map.set(key, new Array(1000).fill(key)) }
