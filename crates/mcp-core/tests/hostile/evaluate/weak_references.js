// expect: any
return [typeof WeakRef, typeof FinalizationRegistry, typeof Atomics, typeof SharedArrayBuffer];
