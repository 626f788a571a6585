// expect: fails
function F() { return new new.target() }
new F();
