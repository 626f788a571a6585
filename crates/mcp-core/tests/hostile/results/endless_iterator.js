// expect: fails
return Iterator.from({ next: () => ({ value: 1 }) });
