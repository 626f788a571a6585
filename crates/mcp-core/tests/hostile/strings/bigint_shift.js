// expect: fails
for (let n = 1n; ; n *= 2n) 1n << n;
