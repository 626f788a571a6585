// expect: any
const access = "user‮ ⁦// check⁩ ⁦";
return access;
