// expect: fails
class Loop { inner = new Loop() }
new Loop();
