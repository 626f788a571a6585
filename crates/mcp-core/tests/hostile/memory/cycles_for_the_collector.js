// expect: fails
for (;;) { const a = {}, b = { a }; a.b = b; a.rest = new Array(100).fill(b) }
