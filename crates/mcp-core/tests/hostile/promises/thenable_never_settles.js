// expect: fails
return await { then() {} };
