// expect: fails
const f = (a = f()) => a;
return f();
