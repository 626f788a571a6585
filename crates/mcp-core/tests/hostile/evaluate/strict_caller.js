// expect: fails
return (function () { return arguments.callee.caller })();
