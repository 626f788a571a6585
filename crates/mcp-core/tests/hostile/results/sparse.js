// expect: fails
const it = [];
it[2 ** 32 - 2] = 1;
return it;
