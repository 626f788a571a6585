// expect: fails
const again = () => Promise.reject(1).finally(again).catch(again);
await again();
