// expect: any
})(); (() => { globalThis.outside = true; })(); (async () => {
