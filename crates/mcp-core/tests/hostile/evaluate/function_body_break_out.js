// expect: any
try { return Function("/*", "*/){ for (;;); }, function(")() } catch (error) { return error.name }
