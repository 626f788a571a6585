// expect: fails
for (;;) clearTimeout(setTimeout(() => {}, 1e3));
