// expect: fails
for (const end = Date.now() + 1e9; Date.now() < end;);
