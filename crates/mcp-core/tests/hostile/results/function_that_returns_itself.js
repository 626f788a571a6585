// expect: any
const it = () => it;
return it;
