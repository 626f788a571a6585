// expect: fails
let n = 0;
for (;;) { class C { [`m${n++}`]() {} static #p = n } }
