import { ralphCommand, shellQuote } from '../../printed-command.ts';

/** A file or folder that `ralph init` wanted to create, and the result. */
export interface InitLine {
  readonly kind: 'made' | 'was-there' | 'refused';
  /** Relative if the path lies below the folder in which ralph was started, else absolute. */
  readonly path: string;
  readonly why?: string;
}

/** Returns the output of `ralph init`: what it created, what existed already, and what to do next. */
export function renderInit(
  lines: readonly InitLine[],
  isFoundFromHere: boolean,
  needsTrust = false,
): string {
  const shown = lines.map(lineText);
  const config = lines.find(({ path }) => /ralph\.config\.\w+$/.test(path));
  const next = [
    ...(config === undefined ? [] : trustLines(config, needsTrust)),
    ...(config === undefined || isFoundFromHere
      ? []
      : [`Outside the vault, pass --config ${config.path}.`]),
    'Next: ralph doctor checks that everything is in place, and ralph demo shows the loop at work.',
  ];
  return `${[...shown, '', ...next].join('\n')}\n`;
}

/** Returns the output of `ralph init` in a project. Its last line is a complete `ralph run` command. */
export function renderProjectInit(config: InitLine, tests: string, needsTrust: boolean): string {
  const run = ralphCommand('run', '"Make the failing tests pass"', `--verify "${tests}"`, '--edit');
  const lines = [lineText(config), '', ...trustLines(config, needsTrust), `Next: ${run}`];
  return `${lines.join('\n')}\n`;
}

function lineText({ kind, path, why }: InitLine): string {
  if (kind === 'made') return `created      ${path}`;
  if (kind === 'was-there') return `exists       ${path}`;
  return `not created  ${path}: ${why ?? 'unknown reason'}`;
}

function trustLines({ kind, path }: InitLine, needsTrust: boolean): readonly string[] {
  if (kind !== 'made' || !needsTrust) return [];
  return [`It chooses the agent, so trust it first: ${ralphCommand('trust', shellQuote(path))}`];
}
