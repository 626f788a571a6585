// expect: fails
return { toJSON() { const all = []; for (;;) all.push({ all }) } };
