// expect: any
const it = () => 1;
Object.defineProperty(it, "length", { get() { for (;;); } });
return it;
