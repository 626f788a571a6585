// expect: fails
for (const it = [];;) { it.length = 2 ** 32 - 1; it.fill(0) }
