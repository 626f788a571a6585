// expect: any
let x = 1;
x <!--x;
return x;
