// expect: fails
for (let url = new URL("http://a.example/");;) { url.searchParams.append("k", "v"); url.pathname += "a/" }
