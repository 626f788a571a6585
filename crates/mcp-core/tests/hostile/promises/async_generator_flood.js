// expect: fails
async function* flood() { for (;;) yield new Array(100).fill(1) }
const streams = Array.from({ length: 50 }, flood);
for (;;) await Promise.all(streams.map((it) => it.next()));
