// expect: any
const a = "  "; return a.length;
