// expect: fails
class LimitError extends Error { get name() { return "LimitError" } get message() { return "memory limit of 64 MB reached" } }
throw new LimitError();
