import type { Outcome } from '../agent/outcome.ts';
import type { Policy } from '../task/policy.ts';
import type { Evidence } from '../task/task-state.ts';
import { isPlanDone, type PlanCount } from './plan-file.ts';
import { judgePromise, type OwnText, type PromiseVerdict, statesPhrase } from './promise.ts';

/** How a shell command of the user's ended. */
export interface CommandResult {
  readonly command: string;
  /** Null where it was ended, by its time limit for one. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** Standard output and error together, in bounds. */
  readonly output: string;
}

/** What was found when the world was looked at after an iteration. */
export interface Sightings {
  /** Files that match a watch glob and are not as they were at the task's start. */
  readonly watchMatches: readonly string[];
  /** Where the watched file stands in the done folder, if it came there during the task. */
  readonly movedFile: string | null;
  readonly until: CommandResult | null;
  readonly plan: PlanCount | null;
  /** Protected files that are not as they were at the task's start. */
  readonly protectedChanged: readonly string[];
  /** A request that the agent has left in `Pending_Approval` during the iteration. */
  readonly approvalFile: { readonly name: string; readonly what: string } | null;
  readonly progress: ProgressSigns;
}

/** Signs of progress during one iteration; null where there is nothing to look at. */
export interface ProgressSigns {
  readonly git: { readonly commits: number; readonly filesChanged: number } | null;
  /** Whether a watched file, or the plan file, changed. */
  readonly watched: boolean | null;
}

export const NOTHING_SEEN: Sightings = {
  watchMatches: [],
  movedFile: null,
  until: null,
  plan: null,
  protectedChanged: [],
  approvalFile: null,
  progress: { git: null, watched: null },
};

/** All that a completion condition may look at. */
export interface IterationView {
  readonly outcome: Outcome;
  readonly verdict: PromiseVerdict;
  readonly sightings: Sightings;
  /** Iterations running, this one included, in which a signal was stated. */
  readonly signalsInARow: number;
  readonly policy: Policy;
}

/** One way in which an iteration can claim that the task is complete. A new one is a new row. */
interface Condition {
  readonly kind: Evidence['kind'];
  /** Claims by words count only where the agent ended well, and are held when tools were refused. */
  readonly byWords: boolean;
  /** In words, after "ensure": what has to hold. Null when the policy does not ask for it. */
  readonly describe: (policy: Policy) => string | null;
  /** By what it holds, or null. */
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
      watchGlobs.length === 0 ? null : `a new or changed file matches ${quoted(watchGlobs)}`,
    // An agent that was cut off may have left half a file: it counts once an iteration ends well,
    // or where a command vouches for it.
    check: ({ outcome, sightings, policy }) =>
      outcome.kind === 'answered' || outcome.kind === 'bounded' || policy.verify !== null
        ? (sightings.watchMatches[0] ?? null)
        : null,
  },
  {
    kind: 'until',
    byWords: false,
    describe: ({ until }) => (until === null ? null : `the command '${until}' succeeds`),
    check: ({ sightings }) =>
      sightings.until?.exitCode === 0 ? `${sightings.until.command} exited with 0` : null,
  },
  {
    kind: 'plan-file',
    byWords: false,
    describe: ({ planFile }) => (planFile === null ? null : `every box in '${planFile}' is ticked`),
    check: ({ sightings, policy }) =>
      sightings.plan !== null && isPlanDone(sightings.plan)
        ? `${policy.planFile ?? ''}: ${sightings.plan.done} of ${sightings.plan.done} ticked`
        : null,
  },
  {
    kind: 'signal',
    byWords: true,
    describe: ({ signals }) =>
      signals.length === 0 ? null : `you state ${quoted(signals)} in two iterations in a row`,
    check: ({ signalsInARow, policy }) =>
      policy.signals.length > 0 && signalsInARow >= 2
        ? `${quoted(policy.signals)} stated in ${signalsInARow} iterations in a row`
        : null,
  },
];

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(' or ');
}

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

/** Whether the final message states one of the phrases. */
export function statesOneOf(
  phrases: readonly string[],
  message: string | null,
  ownTexts: readonly OwnText[],
): boolean {
  return message !== null && phrases.some((phrase) => statesPhrase(message, phrase, ownTexts));
}

/** Whether the world must be looked at after an iteration. */
export function needsLook(policy: Policy): boolean {
  return (
    policy.watchGlobs.length > 0 ||
    policy.watchFile !== null ||
    policy.until !== null ||
    policy.planFile !== null ||
    policy.protect.length > 0 ||
    policy.noProgressLimit > 0 ||
    policy.sameErrorLimit > 0 ||
    policy.looksForRequests
  );
}
