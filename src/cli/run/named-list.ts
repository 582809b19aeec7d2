import { FROM, type SourceCommands, sourceNamed } from '../../core/list/list-sources.ts';
import { maskSecrets } from '../../core/secrets/secrets.ts';
import type { Layer } from '../../core/settings/setting-source.ts';
import { WORK_SETTINGS, type WorkLayer } from '../../core/settings/work-settings.ts';
import { commandInTree } from '../../effects/plan/command-in-tree.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { UsageError } from '../../errors.ts';
import { shellQuote } from '../../printed-command.ts';
import type { ReadFlags } from '../flags/flags.ts';

/** What the command line of `ralph work` says. */
export type WorkFlags = ReadFlags & { readonly layer: Layer & WorkLayer };

/** The list that a command line names. */
export interface NamedList {
  /** `github`, `beads` or `from`; null for a file. */
  readonly source: string | null;
  readonly shown: string;
  /** The words after `ralph work` that name the list, for commands that are printed. */
  readonly typed: string;
  /** The commands that print, claim and close items; `list` is empty for a file. */
  readonly commands: SourceCommands;
  /** The command that prints all items a run may work on, even waiting ones; null if the list already has all. */
  readonly known: string | null;
  readonly label: string | null;
  /** Whether the source no longer lists items that `done` has closed. */
  readonly hidesClosed: boolean;
  readonly variables: Readonly<Record<string, string>>;
}

/** Returns the list that a command line names. Throws a `UsageError`. */
export function namedList({ taskId, layer, problems }: WorkFlags): NamedList {
  const textOf = (name: 'from' | 'claim' | 'done' | 'label'): string | null => {
    const value = layer[name]?.value;
    return value === undefined ? null : String(value);
  };
  const [from, label] = [textOf('from'), textOf('label')];
  if (taskId === null && from === null) {
    throw new UsageError([
      ...problems,
      'ralph work expects a list, such as: ralph work prd.json --verify "npm test"',
    ]);
  }
  const row = taskId === null ? null : sourceNamed(taskId);
  const source = from !== null ? FROM : row === null ? null : taskId;
  const shown = taskId ?? WORK_SETTINGS.from.flag;
  const wrong = [
    ...(from !== null && taskId !== null
      ? [`--from takes the place of a list; found the list ${taskId} beside it. Give one of them.`]
      : []),
    ...(row?.needsLabel === true && (label ?? '').trim() === ''
      ? [
          `ralph work ${taskId} expects --label NAME: it works on the open issues with this label alone.`,
        ]
      : []),
    ...(label !== null && row?.needsLabel !== true
      ? ['--label is for ralph work github; other lists have no labels.']
      : []),
    ...(source !== null && layer.itemChecks !== undefined
      ? [
          `--item-checks expects a list that is a file; the text of ${shown} may be anybody's, and is never a command.`,
        ]
      : []),
    ...(row !== null && layer.section !== undefined
      ? [`--section is for files and --from; ${shown} has no sections.`]
      : []),
    ...(['from', 'claim', 'done'] as const).flatMap((name) =>
      textOf(name)?.trim() === ''
        ? [`${WORK_SETTINGS[name].flag} expects a command; found none.`]
        : [],
    ),
  ];
  if (wrong.length > 0) throw new UsageError([...problems, ...wrong]);
  const given = (['label', 'from', 'claim', 'done'] as const).flatMap((name) => {
    const text = textOf(name);
    return text === null ? [] : [WORK_SETTINGS[name].flag, text];
  });
  return {
    ...{ source, shown, label, known: row?.known ?? null },
    hidesClosed: row !== null && row.done !== null && textOf('done') === null,
    variables: { ...row?.variables, ...(label === null ? {} : { RALPH_LABEL: label }) },
    // The words are shown to people, and a command may contain a token.
    typed: maskSecrets([...(taskId === null ? [] : [taskId]), ...given].map(shellQuote).join(' ')),
    commands: {
      list: from ?? row?.list ?? '',
      claim: textOf('claim') ?? row?.claim ?? null,
      done: textOf('done') ?? row?.done ?? null,
    },
  };
}

/** Returns a problem for each command that names a file of the work tree. */
export function commandProblems(
  { layer }: WorkFlags,
  { startDir, cwd }: Pick<RunPlan, 'startDir' | 'cwd'>,
): readonly string[] {
  return (['from', 'claim', 'done'] as const).flatMap((name) => {
    const found = commandInTree(String(layer[name]?.value ?? ''), startDir, cwd);
    if (found === null) return [];
    return [
      `${WORK_SETTINGS[name].flag} expects a command that uses no file of the work tree, since an agent could rewrite it; found ${found}.`,
    ];
  });
}
