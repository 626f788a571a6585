// expect: fails
for (;;) for (const operation of api.operations) break;
