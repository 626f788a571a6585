// expect: any
const found = [];
for (const name of ["process", "require", "Deno", "Bun", "std", "os", "scriptArgs", "print", "load", "__dirname", "navigator", "performance", "WebAssembly", "Worker", "postMessage", "gc", "bjson", "fs"]) {
  if (typeof globalThis[name] !== "undefined") found.push(name);
}
if (found.length > 0) throw new Error(found.join());
return "nothing";
