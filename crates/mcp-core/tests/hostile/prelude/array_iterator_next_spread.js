// expect: fails
const prototype = Object.getPrototypeOf([][Symbol.iterator]());
prototype.next = () => ({ done: false, value: "forever" });
return [...[1]];
