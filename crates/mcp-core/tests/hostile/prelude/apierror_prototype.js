// expect: fails
Object.defineProperty(ApiError.prototype, "name", { get() { for (;;); } });
await api.request("GET", "/no/such/place/");
