// expect: fails
for (let n = 1; ; n *= 2) "".padEnd(n, "ab");
