// expect: fails
const all = [];
for (let n = 0; ; n++) all.push(new Map([[n, new Set([n, {}])]]));
