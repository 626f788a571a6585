// expect: fails
const text = "{" + Array.from({ length: 2e5 }, (_, n) => `"k${n}":{}`).join() + "}";
const all = [];
for (;;) all.push(JSON.parse(text));
