// expect: any
const \u0061pi2 = 1, \u{62}c = 2;
return \u0061pi2 + bc + aw\u0061it;
