// expect: fails
Error.prepareStackTrace = () => { throw new Error("again") };
null.x;
