// expect: fails
throw new Error("\ud83d".repeat(1000) + "\0\x1b]0;title\x07");
