// expect: fails
let n = 0;
do n++, n--; while (n === 0 || true);
