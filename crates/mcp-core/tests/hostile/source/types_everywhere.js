// expect: any
interface Row<T extends keyof Row<any> = "id"> { id: number; [key: string]: unknown }
type Deep<T> = T extends (infer U)[] ? Deep<U> : T extends { a: infer A } ? Deep<A> : never;
declare const ghost: unique symbol;
abstract class Box<in out T> { constructor(protected readonly it?: T) {} get<K>(this: Box<T>, k: K): asserts k is NonNullable<K> {} }
function over(a: string): string; function over(a: number): number; function over(a: any): any { return a! as unknown satisfies unknown }
const f = async <T,>(x: T): Promise<T> => <T>(<unknown>x);
let definite!: number;
return over(await f<number>(1));
