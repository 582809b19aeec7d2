import { failedChecks } from '../completion/check-result.ts';
import type { Missing } from '../prompt/handover.ts';
import { maskSecrets } from '../secrets/secrets.ts';
import type { Settlement, TreeToSettle } from '../snapshots/settlement.ts';
import type { Policy } from '../task/policy.ts';
import { type TaskGit, withCommitOn } from '../task/task-state.ts';
import { clip, oneLine } from '../text/untrusted-text.ts';
import type { Announcement } from './action.ts';
import { publish } from './decision.ts';
import type { EventBody } from './events.ts';
import type { CountedAnswer, Judgement, LoopState, Streaks, WayToSettle } from './loop-state.ts';

/*
 * Once an iteration is judged, its changes are committed, reverted or left, before `--after` runs or the task ends:
 *
 *   judged ──┬─ failed, --revert-failed ─► reverted ───┐
 *            ├─ --commit ────────────────► committed ──┼─► --after, then what follows
 *            └─ neither ───────────────────────────────┘
 *
 * Failed: cut off, or with a failed check (--verify-each), and not complete. If ralph dies here, this step is repeated.
 */

/** Returns whether to commit or to revert the changes of an iteration; null for neither. */
export function wayToSettle(judgement: Judgement, policy: Policy): WayToSettle | null {
  const hasFailed = wasCut(judgement.answer) || isRed(judgement, policy);
  if (policy.revertFailed && hasFailed && judgement.judged.kind !== 'passed') return 'revert';
  return policy.commit ? 'commit' : null;
}

function wasCut({ outcome }: CountedAnswer): boolean {
  return outcome.kind === 'timed-out' || outcome.kind === 'bounded' || outcome.kind === 'cut';
}

/** Whether a check failed under `--verify-each`. A check that a stop cut off does not count as failed. */
function isRed({ checks = [] }: Judgement, { verifyEach }: Policy): boolean {
  const ended = checks.filter(({ exitCode, timedOut }) => exitCode !== null || timedOut);
  return verifyEach && failedChecks(ended).length > 0;
}

/** Describes the iterations whose changes are to be committed or reverted. */
export function treeToSettle(
  { uncommitted = 0 }: Streaks,
  { record, facts }: CountedAnswer,
  policy: Policy,
  again: boolean,
): TreeToSettle {
  const { number: iteration, outcome } = record;
  const summary = summaryOf(facts.finalMessage, policy);
  return { iteration, since: iteration - uncommitted, outcome, summary, again };
}

/** Describes the work that could not be committed, for a last try when the task ends; null if there is none. */
export function treeLeft(
  { streaks: { uncommitted = 0 }, task, finalMessage }: LoopState,
  policy: Policy,
): TreeToSettle | null {
  const last = task.iterations.at(-1);
  if (!policy.commit || uncommitted === 0 || last === undefined) return null;
  const { number: iteration, outcome } = last;
  const since = Math.max(1, iteration + 1 - uncommitted);
  return { iteration, since, outcome, summary: summaryOf(finalMessage, policy), again: true };
}

function summaryOf(message: string | null, policy: Policy): string {
  const statements = [policy.promise, policy.abortPromise, ...policy.signals];
  return summaryLine(message ?? '', statements);
}

/** Returns the last line of a message that is not markup, code or one of the statements; '' if there is none. */
export function summaryLine(message: string, statements: readonly (string | null)[]): string {
  const lines = message
    .replace(/^ *(`{3,}|~{3,})[\s\S]*?(?:^ *\1|$(?![\s\S]))/gm, '')
    .split('\n')
    .map((line) =>
      line
        .replace(/<(\w+)[^>]*>.*?<\/\1>|<[^>]*>/g, '')
        .replace(/^\s*(?:[#>*+-]+|\d+[.)])\s+/, '')
        .replaceAll('**', '')
        .trim(),
    );
  const stated = new Set(statements.map((statement) => wordsIn(statement ?? '')));
  const last = lines.findLast((line) => wordsIn(line) !== '' && !stated.has(wordsIn(line))) ?? '';
  return oneLine(maskSecrets(last), 200);
}

/** Returns only the letters and digits of a text, in lower case, so that texts can be compared. */
function wordsIn(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** The longest diff that the next prompt shows, in UTF-16 code units. */
const LONGEST_DIFF = 4_000;

/** Adds the result of the commit or revert to the state and the next prompt, and announces it. */
export function withSettlement(
  state: LoopState,
  settlement: Settlement,
): { readonly state: LoopState; readonly announced: readonly Announcement[] } {
  const { git } = state.task;
  const event = eventOf(state.task.current_iteration, settlement);
  const isOfChecks = state.step.kind === 'settling' && !wasCut(state.step.answer);
  const told = toldOf(settlement, isOfChecks);
  const away = settlement.kind === 'committed' ? awayFrom(git, settlement.branch) : null;
  const missing = [...state.carry.missing, ...[told, away].filter((each) => each !== null)];
  const task =
    settlement.kind === 'committed'
      ? { ...state.task, git: { ...git, branches: withCommitOn(git, settlement.branch) } }
      : state.task;
  const streaks = { ...state.streaks, uncommitted: uncommittedAfter(state.streaks, settlement) };
  return {
    state: { ...state, task, streaks, carry: { ...state.carry, missing } },
    announced: event === null ? [] : [publish(event)],
  };
}

/** Returns what the agent is told if this commit is on another branch than the previous one; null if it is not. */
function awayFrom({ branches = [], work_tree }: TaskGit, branch: string): Missing | null {
  const before = branches.length === 0 && work_tree !== null ? [work_tree.branch] : branches;
  const last = before.at(-1) ?? branch;
  if (last === branch) return null;
  return { kind: 'branches', branch, earlier: before.filter((each) => each !== branch) };
}

function uncommittedAfter({ uncommitted = 0 }: Streaks, { kind }: Settlement): number {
  if (kind === 'committed') return 0;
  const isLeft = kind === 'refused' || kind === 'not-committed';
  return isLeft || uncommitted > 0 ? uncommitted + 1 : 0;
}

function eventOf(iteration: number, settlement: Settlement): EventBody | null {
  switch (settlement.kind) {
    case 'nothing':
      return null;
    case 'committed': {
      const { commit, branch, files } = settlement;
      return { event: 'iteration_committed', iteration, commit, branch, files };
    }
    case 'refused':
    case 'not-committed':
      return { event: 'commit_failed', iteration, why: settlement.why };
    case 'reverted': {
      const { files, kept } = settlement;
      return { event: 'iteration_reverted', iteration, files, kept: kept.slice(0, 20) };
    }
    case 'not-reverted':
      return { event: 'revert_failed', iteration, why: settlement.why };
  }
}

/** Returns what the agent is told about a refused commit or a revert; null if it can do nothing about the result. */
function toldOf(settlement: Settlement, isOfChecks: boolean): Missing | null {
  if (settlement.kind === 'refused') {
    return { kind: 'not-committed', why: settlement.why, output: settlement.output };
  }
  if (settlement.kind !== 'reverted') return null;
  const { files, kept, diff } = settlement;
  const why = isOfChecks ? { why: 'checks' as const } : {};
  return { kind: 'reverted', ...why, files, kept, diff: clip(diff, LONGEST_DIFF) };
}
