// expect: fails
const again = () => setTimeout(again, 50);
again();
await new Promise(() => {});
