// expect: fails
return import.meta.url;
