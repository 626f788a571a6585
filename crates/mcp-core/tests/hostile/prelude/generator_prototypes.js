// expect: any
const generator = Object.getPrototypeOf(Object.getPrototypeOf((function* () {})()));
generator.next = () => ({ done: false, value: { id: "forged" } });
let count = 0;
for (const operation of api.operations) if (++count > 1000) break;
return count;
