// expect: fails
for (let state = 0; ; ) switch (state) { case 0: state = 1; continue; default: state = 0; break }
