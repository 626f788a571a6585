// expect: fails
for (let it = 3n; ; it *= it);
