// expect: fails
(0, eval)("var leaked = 1; for (;;);");
