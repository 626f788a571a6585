// expect: fails
for (;;) console.log(1);
