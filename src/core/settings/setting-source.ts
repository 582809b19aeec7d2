import type { SettingName } from './settings.ts';

/** The kinds of source, highest priority first. */
type SourceKind = 'flag' | 'variable' | 'front-matter' | 'task-type' | 'config' | 'default';

/** Where a value comes from, worded so that a person can find it. */
export interface Source {
  readonly kind: SourceKind;
  /** `--delay`, `RALPH_DELAY`, `ralph.config.yaml:3 delay`, `task type coding`. */
  readonly where: string;
}

/** A value as it was written, and its source. */
export interface Written {
  readonly value: unknown;
  readonly source: Source;
}

/** The settings from one source; missing ones are left to the next source. */
export type Layer = Readonly<Partial<Record<SettingName, Written>>>;

export type Sources = Readonly<Record<SettingName, Source>>;

/** Whether someone set it explicitly, rather than a default or a task type. */
export function isGiven(source: Source): boolean {
  return source.kind !== 'default' && source.kind !== 'task-type';
}

/** Returns a value that was written as text, or undefined. */
export function textOf(written: Written | undefined): string | undefined {
  return typeof written?.value === 'string' ? written.value : undefined;
}
