// expect: fails
Object.freeze(Object.prototype); Object.freeze(Array.prototype); Object.freeze(globalThis);
for (;;) Object.isFrozen(globalThis);
