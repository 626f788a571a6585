// expect: fails
const text = "ü".repeat(1e6);
for (;;) new TextDecoder().decode(new TextEncoder().encode(text));
