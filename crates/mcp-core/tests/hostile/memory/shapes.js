// expect: fails
for (let n = 0, all = []; ; n++) { const it = {}; for (let k = 0; k < 50; k++) it[`p${n}_${k}`] = k; all.push(it) }
