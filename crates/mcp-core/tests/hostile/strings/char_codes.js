// expect: fails
const all = [];
for (let n = 0; ; n++) all.push(String.fromCodePoint(n % 0x110000).repeat(50));
