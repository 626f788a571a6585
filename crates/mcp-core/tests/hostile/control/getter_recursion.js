// expect: fails
const it = { get it() { return this.it } };
return it.it;
