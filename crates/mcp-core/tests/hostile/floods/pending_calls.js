// expect: any
const calls = [];
for (let n = 0; n < 5000; n++) calls.push(api.request("GET", "/core/users/").then((it) => it.status, (error) => error.name));
const tally = {};
for (const it of await Promise.all(calls)) tally[it] = (tally[it] ?? 0) + 1;
return tally;
