// expect: fails
const all = [];
try { for (;;) all.push({}) } catch {}
for (;;) { try { all.sort(() => { for (;;); }) } catch {} }
