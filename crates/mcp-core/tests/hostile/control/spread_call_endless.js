// expect: fails
Math.max(...{ *[Symbol.iterator]() { for (let n = 0; ; n++) yield n } });
