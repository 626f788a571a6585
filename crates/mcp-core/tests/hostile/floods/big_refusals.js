// expect: fails
for (;;) await api.request("GET", "/no/" + "x".repeat(1e5)).catch(() => {});
