// expect: fails
throw Object.assign(new Error("proto"), JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"x":1}}}'));
