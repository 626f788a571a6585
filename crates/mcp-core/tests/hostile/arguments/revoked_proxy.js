// expect: fails
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
return await api.request("GET", proxy);
