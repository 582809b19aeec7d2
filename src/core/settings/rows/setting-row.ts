/** How a setting is written, and the value that it becomes. */
export type SettingKind =
  /** Text, unchanged. It may be blank unless `what` says what is expected. */
  | { readonly kind: 'text'; readonly what?: string }
  /** A shell command that ralph runs, or a command that it splits into words and starts without a shell. */
  | { readonly kind: 'command'; readonly isSplit?: true }
  /** Several texts: the flag can be repeated. */
  | { readonly kind: 'texts'; readonly what?: string }
  /** Shell commands that check a claim: the flag can be repeated, and a configuration may name them. */
  | { readonly kind: 'checks' }
  /** A whole number, at least `min`. */
  | { readonly kind: 'count'; readonly min: number }
  /** A duration such as `90s` or `1h30m`, which becomes milliseconds, at least `minMs`. */
  | { readonly kind: 'duration'; readonly minMs: number }
  /** A size such as `64KB` or `1GB`, which becomes bytes. */
  | { readonly kind: 'size' }
  /** An amount in US dollars, more than 0: `2`, `0.50`. */
  | { readonly kind: 'cost' }
  /** A percentage from 1 to 100. */
  | { readonly kind: 'percent' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  /** One choice or several, with commas between them. */
  | { readonly kind: 'choices'; readonly choices: readonly string[] }
  /** A text for the agent, or `AGENT=TEXT` for each of several: see `agent-texts.ts`. */
  | { readonly kind: 'agent-texts'; readonly ofPrograms?: true }
  | { readonly kind: 'switch' };

/** How a setting is written and explained. */
export interface OwnRow {
  /** Other names of the flag. */
  readonly aliases?: readonly string[];
  readonly short?: string;
  /** The flag that turns a switch off. If neither flag is given, ralph decides. */
  readonly negation?: string;
  /** The placeholder after the flag in the help: `TEXT`, `N`. Most kinds of values have one of their own. */
  readonly argument?: string;
  readonly type: SettingKind;
  /** What the state file calls the evidence of this completion condition; absent if it is none. */
  readonly evidence?: string;
  /** The default as written on the command line; absent if there is none. */
  readonly default?: string;
  /** False if no `RALPH_*` variable sets it. */
  readonly variable?: false;
  /** False if no key of the configuration file sets it. */
  readonly key?: false;
  readonly help: string;
}

/** What follows from the name and the place of a row. */
export interface Derived {
  /** `--max-cost` for `maxCost`. */
  readonly flag: string;
  /** The heading in the help. */
  readonly group: string;
}

/** A whole row. */
export type FlagRow = OwnRow & Derived;

const ARGUMENTS: Readonly<Partial<Record<SettingKind['kind'], string>>> = {
  command: 'COMMAND',
  checks: 'COMMAND',
  count: 'N',
  duration: 'TIME',
  size: 'SIZE',
  cost: 'USD',
  percent: 'PERCENT',
};

/** Completes the rows of one group. What a row says itself stays. */
export function inGroup<Rows extends Readonly<Record<string, OwnRow>>>(
  group: string,
  rows: Rows,
): { readonly [Name in keyof Rows]: Rows[Name] & Derived } {
  const completed = Object.entries(rows).map(([name, row]) => {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    const argument = ARGUMENTS[row.type.kind];
    return [name, { flag, group, ...(argument === undefined ? {} : { argument }), ...row }];
  });
  // The rows stay under their names.
  return Object.fromEntries(completed) as { [Name in keyof Rows]: Rows[Name] & Derived };
}

/**
 * A row of the table of settings. The flags, the environment variables, the configuration keys, the help, the
 * documentation, and who may set what are derived from the rows.
 */
export type SettingRow = FlagRow & Columns;

/** A row as its file has it. */
export type WrittenRow = OwnRow & Columns;

type Columns = OfFleet & Rights & (OfPrograms | OfOthers);

/** Who may set a setting. No column has a default, so that a new setting cannot be forgotten. */
interface Rights {
  /**
   * True if it decides what is run, what the agent may do, what counts as done, or where ralph reads
   * and writes. A configuration file that the user did not name may set it only after a person trusted it.
   * With `beyond-default` only another value than the default needs that, because only it lifts a wall.
   * With `unless-true` the switch may be turned on without it.
   */
  readonly trust: boolean | 'beyond-default' | 'unless-true';
  /** What `ralph resume` makes of it. */
  readonly resume:
    | 'changes'
    /** It changes, and `+5` adds 5 to what the task has used. */
    | 'adds'
    /** It belongs to the command and not to the task, so that the task's own never counts. */
    | 'now'
    /** It defines the task, so that no resume changes it. */
    | 'fixed';
}

/**
 * A program comes neither from a configuration that nobody trusted, nor from the task that a pass takes over: a task
 * with another one than the pass is not resumed.
 */
interface OfPrograms {
  readonly type:
    | { readonly kind: 'command' | 'checks' }
    | { readonly kind: 'agent-texts'; readonly ofPrograms: true };
  readonly trust: true;
  readonly rescue: 'program';
}

interface OfOthers {
  readonly type:
    | Exclude<SettingKind, { readonly kind: 'command' | 'checks' | 'agent-texts' }>
    | { readonly kind: 'agent-texts'; readonly ofPrograms?: never };
  /** Whose value counts when `ralph rescue` or `ralph watch` works on a task of the vault. */
  readonly rescue: /** The task's own. That of the pass is for the tasks that it starts. */
    | 'own'
    /** The task's own, too. Who takes over somebody else's task sees it: ralph changes the repository by it. */
    | 'shown'
    /** It gives the agent permissions: that of the pass. */
    | 'permission'
    /** It is the sandbox or a rule of it: the narrower of both. */
    | 'wall'
    /** It says which file the task is, so that the pass takes none. */
    | 'file'
    /** Nobody's, since it makes no sense for many tasks. */
    | 'off';
}

/** What `ralph submit` makes of a setting. */
interface OfFleet {
  readonly fleet: /** Stored with the task among its settings. */
    | 'stored'
    /** Stored, too. It names files of the work tree, and one that leads out of it is refused. */
    | 'path'
    /** Stored as a field of its own. */
    | 'beside'
    /** It says how tasks are submitted: with `--batch`, for all of them. The others are for the line of one task. */
    | 'command'
    /** It concerns one machine: why no task of a fleet has it, and what to do. */
    | { readonly not: string };
}

/** A row of the settings that only a pass over the vault has. */
export type VaultRow = OwnRow & { readonly trust: boolean };

/** A row of the settings that only `ralph submit` has. One of a run stays in its group. */
export interface SubmitRow extends OwnRow {
  readonly group?: string;
  /** `one`: it is for a single task, not for a batch. */
  readonly fleet: OfFleet['fleet'] | 'one';
}
