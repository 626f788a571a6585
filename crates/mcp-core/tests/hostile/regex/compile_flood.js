// expect: fails
for (let n = 0; ; n++) new RegExp(`(?:a${n}|[^b-${String.fromCharCode(99 + (n % 20))}]{3,7})+`, "u");
