// expect: fails
const deeper = () => ({ toJSON: () => [deeper()] });
return await api.request("GET", "/core/users/", { query: deeper() });
