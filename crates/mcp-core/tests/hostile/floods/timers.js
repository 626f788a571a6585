// expect: fails
for (;;) setTimeout(() => {}, 1000);
