// expect: fails
let it = ["x".repeat(1000)];
for (;;) it = [it.join(it.join(","))];
