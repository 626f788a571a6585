// expect: fails
let make = Function;
for (let n = 0; n < 1e5; n++) make = make("return this.constructor ?? Function").call(function () {});
return make("for (;;);")();
