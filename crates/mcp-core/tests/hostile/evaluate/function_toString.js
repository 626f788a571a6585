// expect: any
return [api.request, console.log, sleep, eval].map((it) => Function.prototype.toString.call(it));
