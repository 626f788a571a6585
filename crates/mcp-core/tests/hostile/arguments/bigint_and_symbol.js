// expect: fails
return await api.request(Symbol("GET"), 2n ** 4096n, Symbol.iterator);
