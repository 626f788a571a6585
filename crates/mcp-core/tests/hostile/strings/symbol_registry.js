// expect: fails
for (let n = 0; ; n++) Symbol.for(`s${n}`.padEnd(2000, "x"));
