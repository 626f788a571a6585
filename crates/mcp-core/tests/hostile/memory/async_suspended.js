// expect: fails
const all = [];
for (;;) all.push((async (a) => { await new Promise(() => {}); return a })(new Array(100).fill(0)));
