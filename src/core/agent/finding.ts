/** The result of a check of `ralph doctor`. A `problem` would make a run fail. `off`: the feature is not enabled. */
export interface DoctorFinding {
  readonly kind: 'ok' | 'off' | 'warning' | 'problem';
  readonly says: string;
  /** What to do, or null if nothing is needed or `says` already names it. */
  readonly remedy: string | null;
}
