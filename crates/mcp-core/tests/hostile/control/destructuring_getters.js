// expect: fails
const { a: { a: { a } } } = { get a() { for (;;); } };
