// expect: any
for (let n = 0; n < 1e5; n++) console.error("line", n);
return "done";
