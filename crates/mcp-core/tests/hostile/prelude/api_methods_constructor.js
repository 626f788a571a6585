// expect: any
const { request } = api;
return [request.constructor("return typeof process + typeof require")(), Object.getOwnPropertyNames(request)];
