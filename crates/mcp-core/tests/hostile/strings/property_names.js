// expect: fails
const it = {};
for (let n = 0; ; n++) it[`${"k".repeat(1e4)}${n}`] = n;
