// expect: any
for (const it of [Reflect, Object, Math, Number, Date]) {
  for (const name of Object.getOwnPropertyNames(it)) { try { it[name] = undefined } catch {} }
}
return [new Date(0), (await api.request("GET", "/core/users/")).status];
