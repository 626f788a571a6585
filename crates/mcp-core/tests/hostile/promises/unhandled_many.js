// expect: any
for (let n = 0; n < 20000; n++) Promise.reject(new Error(`lost ${n}`));
return 1;
