// expect: fails
for (let it = "%"; ; ) it = encodeURIComponent(it);
