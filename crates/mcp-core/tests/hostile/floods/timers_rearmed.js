// expect: fails
const arm = () => { for (let n = 0; n < 10; n++) setTimeout(arm, 0) };
arm();
await new Promise(() => {});
