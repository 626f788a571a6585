// expect: fails
let it = "ab";
for (;;) it += it;
