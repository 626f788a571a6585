// expect: fails
let head = {};
for (;;) { const next = { head }; head.next = next; head = next }
