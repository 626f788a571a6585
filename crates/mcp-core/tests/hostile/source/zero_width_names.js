// expect: any
const a‍ = 1, a‌ = 2;
return a‍ + a‌;
