// expect: fails
for (;;) await sleep(1);
