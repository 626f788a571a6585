// expect: fails
return await api.paginate(new Proxy(["/core/users/"], { get(target, key) { for (;;); } }));
