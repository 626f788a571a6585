// expect: fails
function* stay() { for (;;) { try { yield } finally { yield* stay() } } }
const it = stay();
it.next();
it.return();
for (;;) it.return();
