// expect: any
RegExp.prototype.exec = () => { for (;;); };
RegExp.prototype.test = RegExp.prototype.exec;
return (await api.request("GET", "/core/users/")).data;
