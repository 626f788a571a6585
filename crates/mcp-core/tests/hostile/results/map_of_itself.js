// expect: fails
const map = new Map();
map.set("self", map);
return map;
