// expect: any
export const a = 1;
export default async (api) => a;
export { a as b };
