// expect: any
const seen = new Set(), texts = [];
const walk = (it) => {
  if ((typeof it !== "object" && typeof it !== "function") || it === null || seen.has(it)) { if (typeof it === "string") texts.push(it); return }
  seen.add(it);
  for (const key of Reflect.ownKeys(it)) { const own = Object.getOwnPropertyDescriptor(it, key); walk(own.value); walk(own.get); walk(own.set) }
  walk(Object.getPrototypeOf(it));
};
walk(globalThis);
const suspicious = texts.filter((it) => /token|bearer|secret|AUTHENTIK|PATH=|\/home|\/root/i.test(it));
if (suspicious.length > 0) throw new Error(suspicious.join());
return seen.size;
