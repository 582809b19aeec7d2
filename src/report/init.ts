/** One thing that `ralph init` wanted to be there, and what became of it. */
export interface InitLine {
  readonly kind: 'made' | 'was-there' | 'refused';
  /** As it is shown: below the folder ralph was started in where it lies there. */
  readonly path: string;
  readonly why?: string;
}

/** What `ralph init` says: everything it made, everything that was there, and how to go on. */
export function renderInit(lines: readonly InitLine[], isFoundFromHere: boolean): string {
  const told = lines.map(({ kind, path, why }) => {
    if (kind === 'made') return `made       ${path}`;
    if (kind === 'was-there') return `was there  ${path}`;
    return `not made   ${path}: ${why ?? 'it could not be made'}`;
  });
  const config = lines.find(({ path }) => /ralph\.config\.\w+$/.test(path));
  const next = [
    ...(config === undefined || isFoundFromHere
      ? []
      : [`From outside the vault, name the settings with --config ${config.path}.`]),
    'Next: ralph doctor tells whether all is there, and ralph demo shows the loop at work.',
  ];
  return `${[...told, '', ...next].join('\n')}\n`;
}
