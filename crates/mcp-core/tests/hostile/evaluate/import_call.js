// expect: fails
return await import("node:fs");
