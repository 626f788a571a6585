// expect: fails
enum E { A = 1 << 3, B = "x".length }
namespace N { export const a = E.A }
return N.a;
