// expect: fails
const it = { toJSON: () => ({ it }) };
return it;
