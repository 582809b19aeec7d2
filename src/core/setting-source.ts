import type { SettingName } from './settings.ts';

/** Where a value was written, first hit wins in this order. */
type SourceKind = 'flag' | 'variable' | 'front-matter' | 'task-type' | 'config' | 'default';

/** Where a value comes from, in words a person can look it up by. */
export interface Source {
  readonly kind: SourceKind;
  /** `--delay`, `RALPH_DELAY`, `ralph.config.yaml:3 delay`, `task type coding`. */
  readonly where: string;
}

/** A value as it was written, and where. */
export interface Written {
  readonly value: unknown;
  readonly source: Source;
}

/** What one source says; absent settings are left to the next. */
export type Layer = Readonly<Partial<Record<SettingName, Written>>>;

export type Sources = Readonly<Record<SettingName, Source>>;

/** Whether somebody wrote the setting down, rather than a default or a task type. */
export function isGiven(source: Source): boolean {
  return source.kind !== 'default' && source.kind !== 'task-type';
}
