// expect: any
console.log("\0\x1b[2J\r\n{\"jsonrpc\":\"2.0\"}\u2028\ud800");
return "\0\x1b[2J";
