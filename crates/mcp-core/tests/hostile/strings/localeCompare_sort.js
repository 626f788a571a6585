// expect: fails
const it = Array.from({ length: 2000 }, (_, n) => "e\u0301".repeat(3000) + n);
for (;;) it.sort((a, b) => a.localeCompare(b));
