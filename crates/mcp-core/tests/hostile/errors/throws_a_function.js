// expect: fails
throw function thrown() { for (;;); };
