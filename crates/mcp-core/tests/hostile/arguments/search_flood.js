// expect: fails
for (;;) api.search("user ".repeat(2000), 50);
