// expect: fails
const it = (function* () { for (;;) { try { it.next() } catch { yield } } })();
for (;;) it.next();
