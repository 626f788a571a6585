// expect: fails
const all = [];
try { for (;;) all.push([all]) } finally { for (;;) { try { all.push([]) } catch {} } }
