/** How a setting is written, and the value that it becomes. */
export type SettingKind =
  /** Text, unchanged. It may be blank unless `what` says what is expected. */
  | { readonly kind: 'text'; readonly what?: string }
  /** A shell command that ralph runs, or a command that it splits into words and starts without a shell. */
  | { readonly kind: 'command'; readonly isSplit?: true }
  /** Several texts: the flag can be repeated. */
  | { readonly kind: 'texts'; readonly what?: string }
  /** Shell commands that check a claim of completion. The flag can be repeated; a configuration may give them names. */
  | { readonly kind: 'checks' }
  /** A whole number, at least `min`. */
  | { readonly kind: 'count'; readonly min: number }
  /** A duration such as `90s` or `1h30m`, which becomes milliseconds, at least `minMs`. */
  | { readonly kind: 'duration'; readonly minMs: number }
  /** A size such as `64KB` or `1GB`, which becomes bytes. */
  | { readonly kind: 'size' }
  /** An amount in US dollars, more than 0: `2`, `0.50`. */
  | { readonly kind: 'cost' }
  | { readonly kind: 'percent' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'choices'; readonly choices: readonly string[] }
  /** A text for the agent, or `AGENT=TEXT` for each of several: see `agent-texts.ts`. */
  | { readonly kind: 'agent-texts'; readonly ofPrograms?: true }
  | { readonly kind: 'switch' };

/** How a setting is written on the command line and in files, and how the help explains it. */
export interface OwnRow {
  /** Other names of the flag. */
  readonly aliases?: readonly string[];
  readonly short?: string;
  /** The flag that turns a switch off. If neither flag is given, ralph decides. */
  readonly negation?: string;
  /** The placeholder after the flag in the help: `TEXT`, `N`. Most kinds of values have a default placeholder. */
  readonly argument?: string;
  readonly type: SettingKind;
  /** Only for completion conditions: the name of the condition's evidence in the state file. */
  readonly evidence?: string;
  /** The default as written on the command line; absent if there is none. */
  readonly default?: string;
  /** False if no `RALPH_*` variable sets it. */
  readonly variable?: false;
  /** False if no key of the configuration file sets it. */
  readonly key?: false;
  readonly help: string;
}

/** What is derived from the name of a row and its group. */
export interface Derived {
  /** The flag, such as `--max-cost` for `maxCost`. */
  readonly flag: string;
  readonly group: string;
}

/** A row together with what is derived from its name and group. */
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

/** Adds flag, group and placeholder to the rows of one group. A value that a row already has is kept. */
export function inGroup<Rows extends Readonly<Record<string, OwnRow>>>(
  group: string,
  rows: Rows,
): { readonly [Name in keyof Rows]: Rows[Name] & Derived } {
  const completed = Object.entries(rows).map(([name, row]) => {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    const argument = ARGUMENTS[row.type.kind];
    return [name, { flag, group, ...(argument === undefined ? {} : { argument }), ...row }];
  });
  // The cast is safe, since each row keeps its name.
  return Object.fromEntries(completed) as { [Name in keyof Rows]: Rows[Name] & Derived };
}

/** A row of the table of settings, from which flags, variables, keys, help, documentation and rights are derived. */
export type SettingRow = FlagRow & Columns;

/** A row as it is written in its file. */
export type WrittenRow = OwnRow & Columns;

type Columns = OfFleet & Rights & (OfPrograms | OfOthers);

/** Who may change a setting. No column has a default, so that none is forgotten for a new setting. */
interface Rights {
  /**
   * True if the setting decides what is run, what the agent may do, what counts as done, or where ralph reads and
   * writes. A configuration file that the user did not name may set it only after a person trusted the file.
   * `beyond-default`: only values other than the default need trust, since only they loosen the sandbox.
   * `unless-true`: the switch may be turned on without trust.
   */
  readonly trust: boolean | 'beyond-default' | 'unless-true';
  readonly resume:
    | 'changes'
    /** A resume may change the setting, and `+5` sets it to 5 more than the task has used. */
    | 'adds'
    /** The setting belongs to the command and not to the task, so the stored value is never used. */
    | 'now'
    /** The setting defines the task, so no resume can change it. */
    | 'fixed';
}

/**
 * A setting that names a program is never taken from an untrusted configuration, nor from a task that `ralph rescue`
 * or `ralph watch` takes over: if the task's program differs from that of the command, the task is not resumed.
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
  /** Whose value is used when a pass over the vault (by `ralph rescue` or `ralph watch`) works on one of its tasks. */
  readonly rescue: /** The task's own value. The value of the pass is for tasks that the pass starts. */
    | 'own'
    /** The task's own value, too. It is shown to a person who takes the task over, since it changes the repository. */
    | 'shown'
    /** The value of the pass, since the setting gives the agent permissions. */
    | 'permission'
    /** The stricter of both values, since the setting is part of the sandbox. */
    | 'wall'
    /** The pass has no value: the setting names the file with the task's text, and each task has its own. */
    | 'file'
    /** No value is used, since the setting makes no sense for many tasks. */
    | 'off';
}

interface OfFleet {
  readonly fleet: /** Stored with the task among its settings. */
    | 'stored'
    /** Stored, too. The value names files of the work tree; a path that leads out of the work tree is refused. */
    | 'path'
    /** Stored with the task, but as a field of its own. */
    | 'beside'
    /** The setting says how tasks are submitted. It applies to a whole batch, unlike a setting in one line of it. */
    | 'command'
    /** Refused. The text says why no task of a fleet (machines that share tasks) has the setting, and what to do instead. */
    | { readonly not: string };
}

/** A row of the settings that only `ralph rescue` and `ralph watch` have. */
export type VaultRow = OwnRow & { readonly trust: boolean };

/** A row for `ralph submit`: a setting of its own, or a setting of a run, which keeps its group. */
export interface SubmitRow extends OwnRow {
  readonly group?: string;
  /** `one`: the setting is for a single task, not for a batch. */
  readonly fleet: OfFleet['fleet'] | 'one';
}
