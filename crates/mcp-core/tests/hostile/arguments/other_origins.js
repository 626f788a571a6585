// expect: fails
const refused = [];
for (const path of ["http://169.254.169.254/latest/", "//elsewhere.example/", "\\\\elsewhere.example\\", "file:///etc/passwd", "http:core/users/"]) {
  refused.push(await api.request("GET", path).then(() => "reached", () => "refused"));
}
if (refused.every((it) => it === "refused")) throw new Error("all refused");
return refused;
