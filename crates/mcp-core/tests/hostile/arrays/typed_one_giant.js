// expect: fails
return new Float64Array(2 ** 33);
