// expect: fails
const wide = Array.from({ length: 1000 }, () => "y".repeat(1000));
for (;;) console.log(wide, wide, wide);
