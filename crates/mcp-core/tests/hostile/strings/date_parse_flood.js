// expect: fails
const text = " ".repeat(1e6) + "2020";
for (;;) Date.parse(text);
