// expect: fails
const all = [];
for (;;) all.push(new Date(), new Error("x"), /x/g);
