// expect: fails
for (;;) await Promise.all(Array.from({ length: 1e4 }, () => sleep(0)));
