// expect: any
for (const delay of [NaN, -1, -Infinity, 1e-9, "5", null, undefined, {}, [], 2n]) {
  try { await new Promise((resolve) => setTimeout(resolve, delay)) } catch (error) { console.log(error.name) }
}
return 1;
