import type { Outcome } from './outcome.ts';
import type { Policy } from './policy.ts';
import { judgePromise, type OwnText, type PromiseVerdict } from './promise.ts';
import type { Evidence } from './task-state.ts';

/** What was found when the world was looked at after an iteration. */
export interface Sightings {
  /** Files that match a watch glob and are not as they were at the task's start. */
  readonly watchMatches: readonly string[];
  /** Where the watched file stands in the done folder, if it came there during the task. */
  readonly movedFile: string | null;
}

export const NOTHING_SEEN: Sightings = { watchMatches: [], movedFile: null };

/** All that a completion condition may look at. */
export interface IterationView {
  readonly outcome: Outcome;
  readonly verdict: PromiseVerdict;
  readonly sightings: Sightings;
}

/** One way in which an iteration can claim that the task is complete. A new one is a new row. */
interface Condition {
  readonly kind: Evidence['kind'];
  /** Claims by words count only where the agent ended well, and are held when tools were refused. */
  readonly byWords: boolean;
  /** In words, after "ensure": what has to hold. Null when the policy does not ask for it. */
  readonly describe: (policy: Policy) => string | null;
  readonly check: (view: IterationView) => string | null;
}

export const CONDITIONS: readonly Condition[] = [
  {
    kind: 'promise',
    byWords: true,
    describe: (policy) =>
      policy.promise === null ? null : `'<promise>${policy.promise}</promise>' is satisfied`,
    check: ({ outcome, verdict }) =>
      outcome.kind === 'answered' && verdict.kind === 'stated' ? verdict.line : null,
  },
  {
    kind: 'file-moved',
    byWords: false,
    describe: ({ watchFile, doneFolder }) =>
      watchFile === null ? null : `'${watchFile}' has been moved to '${doneFolder}'`,
    check: ({ sightings }) => sightings.movedFile,
  },
  {
    kind: 'watch-glob',
    byWords: false,
    describe: ({ watchGlobs }) =>
      watchGlobs.length === 0
        ? null
        : `a new or changed file matches ${watchGlobs.map((glob) => `'${glob}'`).join(' or ')}`,
    // An agent that was cut off may have left half a file: it counts once an iteration ends well.
    check: ({ outcome, sightings }) =>
      outcome.kind === 'answered' || outcome.kind === 'bounded'
        ? (sightings.watchMatches[0] ?? null)
        : null,
  },
];

/** A statement that the task is complete, before it is verified. */
export interface Claim {
  readonly evidence: Evidence;
  readonly byWords: boolean;
}

/** Every claim the iteration makes, files before words: a file is the harder evidence. */
export function findClaims(view: IterationView): readonly Claim[] {
  const claims: Claim[] = [];
  for (const condition of CONDITIONS) {
    const detail = condition.check(view);
    if (detail !== null) {
      claims.push({ evidence: { kind: condition.kind, detail }, byWords: condition.byWords });
    }
  }
  return claims.sort((a, b) => Number(a.byWords) - Number(b.byWords));
}

/** The completion rule in words: what has to hold, joined by "or". */
export function describeCompletion(policy: Policy): string {
  const parts = CONDITIONS.map((condition) => condition.describe(policy));
  return parts.filter((part) => part !== null).join(', or ');
}

/** Judges the agent's final message, what ralph itself had put into the prompt taken out first. */
export function judgeMessage(
  message: string | null,
  policy: Policy,
  ownTexts: readonly OwnText[],
): PromiseVerdict {
  if (message === null || policy.promise === null) return { kind: 'absent' };
  return judgePromise(message, policy.promise, policy.match, ownTexts);
}

/** Whether the files must be looked at after an iteration. */
export function needsLook(policy: Policy): boolean {
  return policy.watchGlobs.length > 0 || policy.watchFile !== null;
}
