// expect: any
const groups = Array.from({ length: 200 }, (_, n) => `(?<g${n}>a)?`).join("");
return Object.keys("a".match(new RegExp(groups)).groups).length;
