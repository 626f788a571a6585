// expect: fails
const all = [];
try { for (;;) all.push("x".repeat(1000) + all.length) } catch {}
for (;;) { try { await api.request("GET", "/core/users/") } catch {} }
