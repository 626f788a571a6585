// expect: fails
for (;;) await Promise.all(Array.from({ length: 900 }, () => api.request("GET", "/core/users/").catch(() => {})));
