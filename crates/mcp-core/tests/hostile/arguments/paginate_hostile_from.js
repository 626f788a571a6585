// expect: fails
return await api.paginate("/core/users/", { from: { toString() { return "x".repeat(1e6) }, toJSON() { return "y".repeat(1e6) } }, maxItems: -1 });
