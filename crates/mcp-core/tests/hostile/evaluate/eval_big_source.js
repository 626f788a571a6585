// expect: fails
const body = "a=1;".repeat(1e6);
for (;;) eval(`let a;${body}`);
