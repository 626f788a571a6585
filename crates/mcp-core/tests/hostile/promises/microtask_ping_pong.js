// expect: fails
const ping = () => Promise.resolve().then(pong), pong = () => queueMicrotask(ping);
ping();
await new Promise(() => {});
