// expect: any
return [1e308 * 10, -0, 2 ** 53 + 2, 5e-324, 2n ** 5000n, NaN];
