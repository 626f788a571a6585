// expect: fails
for (;;) { try { for (;;) { try { null.x } finally { undefined.y } } } catch {} }
