// expect: fails
for (;;) { (1.5).toString(2); (1e21).toFixed(100); (1e-7).toPrecision(100) }
