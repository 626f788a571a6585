// expect: fails
return Function("return new WeakRef({})")();
