// expect: any
return (() => {
#!/usr/bin/env node
})();
