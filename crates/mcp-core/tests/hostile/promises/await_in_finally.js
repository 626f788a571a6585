// expect: fails
for (;;) { try { throw 1 } catch { continue } finally { await null } }
