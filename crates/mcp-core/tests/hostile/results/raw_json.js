// expect: any
return [JSON.rawJSON("1e400"), JSON.rawJSON("\"a\"")];
