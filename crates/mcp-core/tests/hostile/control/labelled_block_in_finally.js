// expect: fails
again: for (;;) { out: { try { break out } finally { continue again } } }
