import type { A } from 'a'
import { type B, C } from 'b'
export type Config<T = string, U extends Record<string, T> = Record<string, T>> = { a: T; b?: U }
interface Options { contentDir: string; nested: { a: 'b' }; call(x: number): void }
declare const injected: string
declare module 'inkan' { export default interface Config { x: 1 } }
declare global { interface Window { x: number } }
enum Level { Low = 1, High }
const enum Flag { A = 'a' }
namespace Space { export const x = 1 }
abstract class Thing<T> { private x: T; constructor(readonly a: string) { } static { } }
function over(a: string): void
function over(a: number): void
function over(a: any) { }
let fn: (a: string, b?: Map<string, number[]>) => Promise<void> = async () => { }
const tuple: [a: string, b?: number] = ['x', 1]
const maybe: string | undefined = 'y'
const gen: Array<Map<string, Array<number>>>= []
export const other: Config<string> = { a: 'x' }
export default <const T,>(x: T) => x
