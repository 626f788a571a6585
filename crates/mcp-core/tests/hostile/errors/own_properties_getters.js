// expect: fails
throw Object.defineProperty(new Error("trap"), "data", { enumerable: true, get() { for (;;); } });
