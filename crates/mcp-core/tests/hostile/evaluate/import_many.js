// expect: fails
const all = [];
for (;;) all.push(await import(`data:text/javascript,export default ${all.length}`).catch((error) => error));
