/** The promise of all endings, in its tags; bare it is COMPLETE. */
export const T = '<promise>COMPLETE</promise>';

/** The end of a final message, as agents write it, and what a careful reader takes it for. */
export interface Ending {
  readonly text: string;
  /**
   * - `unfinished`: nobody may take it for done.
   * - `done`: it states the promise where it counts.
   * - `missed`: it is meant as a statement, but not said where it counts: it is asked back, or a
   *   near miss, and never passed over.
   */
  readonly verdict: 'unfinished' | 'done' | 'missed';
  readonly why: string;
}

type Group = readonly [why: string, ...texts: readonly string[]];

function all(verdict: Ending['verdict'], groups: readonly Group[]): readonly Ending[] {
  return groups.flatMap(([why, ...texts]) => texts.map((text) => ({ text, verdict, why })));
}

/** Endings by reason: each group begins with why. */
export const unfinished = (...groups: readonly Group[]) => all('unfinished', groups);
export const done = (...groups: readonly Group[]) => all('done', groups);
export const missed = (...groups: readonly Group[]) => all('missed', groups);
