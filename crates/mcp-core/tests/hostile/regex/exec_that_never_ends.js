// expect: fails
const it = /a/g;
it.exec = () => ({ index: 0, 0: "a", length: 1 });
return "aaa".replace(it, "b");
