// expect: fails
const all = [];
try { for (;;) all.push(new Array(1000).fill(all)) } catch { for (;;) console.log("still here") }
