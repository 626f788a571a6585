// expect: any
return Function("it", "with (it) { return typeof request }")(api);
