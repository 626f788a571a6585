// expect: fails
for (;;) Math.random();
