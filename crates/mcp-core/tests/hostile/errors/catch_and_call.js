// expect: fails
const go = () => { try { go() } catch { go() } };
go();
