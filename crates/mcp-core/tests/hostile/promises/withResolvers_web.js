// expect: any
let last = Promise.resolve();
for (let n = 0; n < 1e5; n++) { const next = Promise.withResolvers(); last.then(next.resolve); last = next.promise }
return await last;
