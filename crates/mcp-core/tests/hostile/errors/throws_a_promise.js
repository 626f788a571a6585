// expect: fails
throw Promise.reject(new Error("inside"));
