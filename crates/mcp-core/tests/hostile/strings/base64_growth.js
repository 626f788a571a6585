// expect: fails
for (let it = "a"; ; ) it = btoa(it + it);
