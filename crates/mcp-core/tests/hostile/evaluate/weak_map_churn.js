// expect: fails
const map = new WeakMap();
for (;;) map.set({}, { map });
