// expect: fails
const a = () => { try { b() } catch { b() } }, b = () => { try { a() } finally { a() } };
a();
