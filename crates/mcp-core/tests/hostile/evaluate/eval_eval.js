// expect: fails
eval("eval(".repeat(2000) + "'1'" + ")".repeat(2000));
for (;;) eval("1");
