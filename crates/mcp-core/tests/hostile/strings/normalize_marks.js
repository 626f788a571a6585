// expect: fails
const marks = "a" + "\u0315\u0300\u05ae\u0062".repeat(2e6);
for (;;) marks.normalize("NFKD");
