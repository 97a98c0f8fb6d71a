const statuses = {
  proposed: { open: true },
  accepted: { current: true },
} as const;

const sources = [
  { dir: '../a', project: 'a' },
] as const satisfies readonly { dir: string; project?: string }[];

export default { contentDir: 'content' as const, statuses, sources } as const;
