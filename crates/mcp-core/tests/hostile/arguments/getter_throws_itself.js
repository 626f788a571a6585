// expect: fails
return await api.request({ get method() { throw this }, path: "/core/users/" });
