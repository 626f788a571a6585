// expect: fails
throw { then(resolve) { resolve(1) }, toJSON() { throw new Error("no") } };
