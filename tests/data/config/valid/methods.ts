export default {
  get title(): string { return 'computed' },
  set title(value: string) { this.t = value },
  buildEnd(site: Site<A, B>): Promise<void> { return write({ a: 1, b: [2] }) },
  async transformHtml(code, id, { pageData }) { if (/[}\]]/.test(code)) { return code } },
  *generate() { yield 1 },
  async *stream<T extends object>(x: T) {},
  ['computed-method']() { return 1 },
  'quoted method'() {},
  12() {},
  arrow: <T,>(x: T): Map<string, T> => new Map([[x, 1]]),
  typed: (a: Record<string, number>, b?: string): { a: 1, b: 2 } => ({ a: 1, b: 2 }),
  contentDir: 'content',
}
