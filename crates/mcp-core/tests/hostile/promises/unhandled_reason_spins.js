// expect: any
Promise.reject({ toString() { for (;;); }, toJSON() { for (;;); } });
return 1;
