// expect: any
async function main(api) { return 1 }
function main2() { for (;;); }
main2.main = main;
return main2.main;
