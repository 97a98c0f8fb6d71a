enum Level { Low, High }
const dir = 'docs' as string as any as 'docs'
const maybe: string | null = 'm'
const conf = {
  contentDir: dir!,
  level: Level.High,
  a: (dir as string) + '/x',
  b: ('y' satisfies string),
  c: [1, 2] as Array<number>,
  d: { x: 1 } as unknown as Record<string, { y: number }>,
  e: maybe! + '!',
  f: <string>dir,
  g: [] as (string | number)[],
  h: 'x' as keyof typeof Level,
  i: 1 as number | undefined,
  j: ((a: string): a is 'x' => true),
  k: 'z' as const,
  l: null as any as Foo.Bar<Baz[]>['qux'],
  m: [{ dir: '../a' } as Source<'local'>, { dir: '../b' }] satisfies Source<string>[],
}
export default conf as typeof conf satisfies Partial<Config>
