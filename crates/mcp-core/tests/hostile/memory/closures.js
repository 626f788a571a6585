// expect: fails
let it = () => 1;
for (;;) { const inner = it; it = () => inner }
