/** How a setting is written, and what it becomes. */
export type SettingKind =
  /** Text as it stands. */
  | { readonly kind: 'text' }
  /** Text, may be given several times. */
  | { readonly kind: 'texts' }
  /** A whole number, at least `min`. */
  | { readonly kind: 'count'; readonly min: number }
  /** `500ms`, `90s`, `1h30m`; becomes milliseconds, at least `minMs`. */
  | { readonly kind: 'duration'; readonly minMs: number }
  /** `64KB`, `500MB`, `1GB`; becomes bytes. */
  | { readonly kind: 'size' }
  /** US dollars, more than 0: `2`, `0.50`. */
  | { readonly kind: 'cost' }
  /** 1 to 100. */
  | { readonly kind: 'percent' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'switch' };

/**
 * The one table of settings: flags, their kinds, defaults and help all come from here, and so do
 * the variables, configuration keys and documentation made from them.
 */

type SettingGroup = 'Prompt' | 'Completion' | 'Limits' | 'Agent' | 'Around it' | 'Output';

export interface SettingRow {
  readonly flag: string;
  /** Further names of the flag. */
  readonly aliases?: readonly string[];
  readonly short?: string;
  /** The flag that turns a switch off; without either of them ralph decides for itself. */
  readonly negation?: string;
  /** What stands after the flag in help: `TEXT`, `N`. */
  readonly argument?: string;
  readonly type: SettingKind;
  readonly group: SettingGroup;
  /** As it is written on the command line; absent where there is none. */
  readonly default?: string;
  /** False where no `RALPH_*` variable sets it. */
  readonly variable?: false;
  /** False where no key of the configuration file sets it. */
  readonly key?: false;
  /**
   * True where it decides what is run, what the agent may do, what counts as done, or where ralph reads
   * and writes. A configuration that was found, not named, may set it only once a person has trusted it.
   */
  readonly trust?: true;
  readonly help: string;
}
