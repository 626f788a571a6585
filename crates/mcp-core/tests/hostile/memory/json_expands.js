// expect: fails
const text = "[" + "[],".repeat(2e6) + "0]";
const all = [];
for (;;) all.push(JSON.parse(text));
