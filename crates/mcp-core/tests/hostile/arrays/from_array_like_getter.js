// expect: fails
return Array.from({ get length() { return 2 ** 32 - 1 }, get 0() { for (;;); } }, () => ({}));
