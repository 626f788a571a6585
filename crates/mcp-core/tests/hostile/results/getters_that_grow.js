// expect: fails
const it = () => ({ get a() { return it() }, get b() { return it() } });
return it();
