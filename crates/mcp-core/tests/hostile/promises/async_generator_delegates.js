// expect: fails
async function* endless() { yield* endless() }
for await (const it of endless());
