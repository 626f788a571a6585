// expect: fails
a: for (;;) { b: for (;;) { c: do { try { continue a } finally { continue b } } while (true) } }
