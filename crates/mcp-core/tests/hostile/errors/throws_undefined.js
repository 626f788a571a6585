// expect: fails
throw undefined;
