/** How a setting is written, and the value that it becomes. */
export type SettingKind =
  /** Text, unchanged. */
  | { readonly kind: 'text' }
  /** A shell command that ralph runs. */
  | { readonly kind: 'command' }
  /** Several texts: the flag can be repeated. */
  | { readonly kind: 'texts' }
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
  | { readonly kind: 'agent-texts' }
  | { readonly kind: 'switch' };

type SettingGroup =
  | 'Prompt'
  | 'Completion'
  | 'Limits'
  | 'Agent'
  | 'Sandbox'
  | 'Git'
  | 'Around it'
  | 'Output';

/**
 * A row of the table of settings. The environment variables, the configuration keys, the help and the
 * documentation are derived from the rows.
 */
export interface SettingRow {
  readonly flag: string;
  /** Other names of the flag. */
  readonly aliases?: readonly string[];
  readonly short?: string;
  /** The flag that turns a switch off. If neither flag is given, ralph decides. */
  readonly negation?: string;
  /** The placeholder after the flag in the help: `TEXT`, `N`. */
  readonly argument?: string;
  readonly type: SettingKind;
  readonly group: SettingGroup;
  /** The default as written on the command line; absent if there is none. */
  readonly default?: string;
  /** False if no `RALPH_*` variable sets it. */
  readonly variable?: false;
  /** False if no key of the configuration file sets it. */
  readonly key?: false;
  /**
   * True if it decides what is run, what the agent may do, what counts as done, or where ralph reads
   * and writes. A configuration file that the user did not name may set it only after a person trusted it.
   * With `beyond-default` only another value than the default needs that, because only it lifts a wall.
   * With `unless-true` the switch may be turned on without it.
   */
  readonly trust?: true | 'beyond-default' | 'unless-true';
  readonly help: string;
}
