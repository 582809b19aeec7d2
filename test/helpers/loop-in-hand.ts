import {
  type AttemptFacts,
  type MetInSandbox,
  NO_USAGE,
  type SessionUsage,
  type Usage,
} from '../../src/core/agent/attempt.ts';
import type { RawCheckResult } from '../../src/core/completion/check-result.ts';
import type { CommandResult } from '../../src/core/completion/command-result.ts';
import type { DecidersSeen, Examination, ExamPart } from '../../src/core/completion/examination.ts';
import { NOTHING_SEEN, type Sightings } from '../../src/core/completion/sightings.ts';
import type { Action, Question } from '../../src/core/machine/action.ts';
import type { EventBody } from '../../src/core/machine/events.ts';
import type { ApprovalAnswer, LoopEvent } from '../../src/core/machine/loop-event.ts';
import type { Ending, LoopState, StopCause } from '../../src/core/machine/loop-state.ts';
import { initialState, transition } from '../../src/core/machine/transition.ts';
import type { Settlement, TreeToSettle } from '../../src/core/snapshots/settlement.ts';
import type { DaySpending } from '../../src/core/task/day-budget.ts';
import type { Policy } from '../../src/core/task/policy.ts';
import {
  lastWorkAt,
  laterBy,
  msBetween,
  type ThereBefore,
} from '../../src/core/task/task-state.ts';
import type { TreeLacks } from '../../src/core/task/tree-lacks.ts';
import { rawResult } from './checks.ts';
import { loopPolicy } from './loop-policy.ts';
import { newTask, START } from './new-task.ts';

/** What one event brought: the state after it, and the actions. */
export interface Turn {
  readonly state: LoopState;
  /** In short: `task_iterated`, `start-agent 2.1`, `look`, `verify npm test`, `wait`, `stop:completed`. */
  readonly actions: readonly string[];
  /** The snapshots that it wants. */
  readonly kept: readonly Action[];
  readonly told: readonly EventBody[];
  /** How the task ended, if it did. */
  readonly ending: Ending | null;
  /** What could not be committed when the task ended. */
  readonly left: TreeToSettle | null;
  /** How the agent is started; null if it is not. */
  readonly agent: Extract<Question, { kind: 'start-agent' }> | null;
  /** What stands behind the prompt, if the agent is started. */
  readonly addition: string | null;
  /** When the time of the whole task is over, as the agent is told; null if it is not started. */
  readonly deadlineAt: string | null;
  /** How long it wants to wait, in milliseconds; null if not at all. */
  readonly waitMs: number | null;
  /** What the command after the iteration is given; null if it is not run. */
  readonly followedBy: EventBody | null;
  /** What is to be found out about a claim; null if nothing is. */
  readonly examine: Extract<Question, { kind: 'examine' }> | null;
}

const NOTHING_BENT: DecidersSeen = {
  bent: [],
  stood: true,
  changedTestFiles: [],
  touchedTests: 1,
  rewritten: [],
  openTestFiles: [],
  hadTests: false,
  tree: null,
  programs: {},
};

/** What is found out about a sound claim. */
const SOUND: Readonly<Record<ExamPart, Examination>> = {
  deciders: { deciders: NOTHING_BENT },
  oldExam: { oldExam: { kind: 'ran', results: [], folder: null } },
  startTests: { startTests: { kind: 'ran', results: [], folder: null } },
  cleanCheckout: { cleanCheckout: { kind: 'ran', results: [], folder: null } },
  judge: {
    judge: {
      verdict: {
        ...{ agent: 'command', model: null, tree: null, verdict: 'met', why: null },
        criteria: [{ id: 'c1', text: 'it adds', verdict: 'met', evidence: '', where: [] }],
        cost_usd: 0,
      },
      ...{ calls: 1, usage: NO_USAGE, trouble: null },
    },
  },
};

/** What an examiner finds that finds nothing; `more` is what it finds. */
export function decidersSeen(more: Partial<DecidersSeen> = {}): Examination {
  return { deciders: { ...NOTHING_BENT, ...more } };
}

/** How long a task lies about before it is taken up again. */
export const A_DAY_MS = 24 * 3_600_000;

/** How a task is taken up again. */
/** An attempt, and what the sandbox met in it. */
type PlayedAttempt = AttemptFacts & { readonly met?: MetInSandbox };

interface Resuming {
  readonly afterMs?: number;
  readonly timeLeftMs?: number;
  /** What the agent of the dead driver had cost. */
  readonly lost?: Usage | null;
  /** What that agent told of its whole session. */
  readonly lostSession?: SessionUsage | null;
  readonly waitedOn?: boolean;
}

/**
 * The pure loop with a clock of its own, event by event. `start` comes first; each method lets
 * time pass and hands one event to `transition`. With `examines` the test says itself what is found out about
 * a claim, by `examined`.
 */
export function loopInHand(
  changes: Partial<Policy> = {},
  taskTimeoutMs?: number,
  { examines = false }: { readonly examines?: boolean } = {},
) {
  let policy = loopPolicy(changes);
  const { driver } = newTask(policy);
  let state = initialState(newTask(policy, taskTimeoutMs));
  let at = START;
  let awakeMs = 0;
  let heardMs = 0;
  let heldUpMs = 0;

  const hand = (event: LoopEvent, earlier: readonly Action[] = []): Turn => {
    const next = transition(state, event, policy);
    const actions = [...earlier, ...next.actions];
    state = next.state;
    heardMs = awakeMs;
    heldUpMs = 0;
    const examine = next.actions.find((action) => action.kind === 'examine');
    // Most tests are about something else, so the claim is found to be sound.
    if (examine === undefined || examines) return turnOf(state, actions, at);
    const found = { kind: 'examined' as const, ...answeredNow(), found: SOUND[examine.part] };
    return hand(
      found,
      actions.filter((action) => action !== examine),
    );
  };
  /** Less than nothing sets the clock back. */
  const pass = (ms: number): void => {
    at = laterBy(at, ms);
    awakeMs += Math.max(0, ms);
  };
  const answeredNow = () => ({ at, tookMs: awakeMs - heardMs, heldUpMs });

  const attempt = ({ met, ...facts }: PlayedAttempt, random = 0.5): Turn => {
    const startedAt = at;
    pass(facts.durationMs);
    heldUpMs += facts.heldUpMs;
    const noted = met && transition(state, { kind: 'met-in-sandbox', at, met }, policy);
    state = noted?.state ?? state;
    const ended = { kind: 'attempt-ended' as const, ...answeredNow(), startedAt, facts, random };
    return hand(ended, noted?.actions);
  };
  const look = (sightings: Sightings) => hand({ kind: 'looked', ...answeredNow(), sightings });

  return {
    policy: () => policy,
    now: () => at,
    state: () => state,
    /** Time goes by without an event. */
    pass,
    /** The machine sleeps, or its clock is set, to an earlier time too: no time to work in goes by. */
    jump(ms: number): void {
      at = laterBy(at, ms);
    },
    /** ralph itself is stopped for so long. */
    holdUp(ms: number): void {
      pass(ms);
      heldUpMs += ms;
    },
    start: (lacks: TreeLacks | null = null, judgeMissing: string | null = null) =>
      hand({ kind: 'started', at, prompt: 'Fix the tests.', lacks, judgeMissing }),
    dayCounted: (day: DaySpending) => hand({ kind: 'day-counted', ...answeredNow(), day }),
    /** The running attempt ends after `facts.durationMs`. */
    attempt,
    look,
    /** One attempt, and if it is counted, what is seen after it. */
    iterate(facts: PlayedAttempt, sightings = NOTHING_SEEN): Turn {
      const turn = attempt(facts);
      return turn.actions.includes('look') ? look(sightings) : turn;
    },
    verified: (result: CommandResult, more: Partial<RawCheckResult> = {}) =>
      hand({ kind: 'verified', ...answeredNow(), result: rawResult(result, more) }),
    examined: (found: Examination) => hand({ kind: 'examined', ...answeredNow(), found }),
    settled: (settlement: Settlement) => hand({ kind: 'settled', ...answeredNow(), settlement }),
    /** The command after the iteration took so long. */
    followed(ms = 0): Turn {
      pass(ms);
      return hand({ kind: 'followed', ...answeredNow() });
    },
    /** The request lies where a person finds it; this stood in the place of an answer before. */
    requested: (thereBefore: ThereBefore = { approved: null, rejected: null }) =>
      hand({ kind: 'approval-requested', ...answeredNow(), thereBefore }),
    answered: (answer: ApprovalAnswer) =>
      hand({ kind: 'approval-answered', ...answeredNow(), answer }),
    hint: (text: string) => hand({ kind: 'hinted', at, hint: { text, isProven: true } }),
    /** Waits as long as the state says, and `lateMs` longer; the clock is set by `jumpMs` meanwhile. */
    wait(lateMs = 0, jumpMs = 0): Turn {
      const until = state.task.wait?.until ?? at;
      pass(Math.max(0, msBetween(at, until)) + lateMs);
      at = laterBy(at, jumpMs);
      return hand({ kind: 'waited', ...answeredNow() });
    },
    stop: (by: StopCause) => hand({ kind: 'stop-requested', at, by }),
    pause: () => hand({ kind: 'pause-requested', at }),
    /**
     * The driver dies, if the task has not ended, and after a while another takes it up, from what the
     * files hold: by the time that was left, where no other is given, and by these settings from now on.
     */
    resume(
      settings: Partial<Policy> = {},
      {
        afterMs = A_DAY_MS,
        timeLeftMs,
        lost = null,
        lostSession = null,
        waitedOn = false,
      }: Resuming = {},
    ): Turn {
      const { task } = state;
      const left = timeLeftMs ?? msBetween(lastWorkAt(task), task.timeout_at);
      pass(afterMs);
      policy = { ...policy, ...settings };
      const kept: LoopState = JSON.parse(JSON.stringify(state));
      state = {
        ...kept,
        stopRequested: null,
        pauseRequested: false,
        task: { ...kept.task, driver: driver && { ...driver, run_id: 'run-2', beat_at: at } },
      };
      return hand({ kind: 'resumed', at, timeLeftMs: left, lost, lostSession, waitedOn });
    },
  };
}

function turnOf(state: LoopState, actions: readonly Action[], at: string): Turn {
  let ending: Ending | null = null;
  let left: Turn['left'] = null;
  let agent: Turn['agent'] = null;
  let waitMs: number | null = null;
  let followedBy: EventBody | null = null;
  let examine: Turn['examine'] = null;
  const told: EventBody[] = [];
  for (const action of actions) {
    if (action.kind === 'publish') told.push(action.body);
    if (action.kind === 'stop') ({ ending, left } = action);
    if (action.kind === 'start-agent') agent = action;
    if (action.kind === 'wait') waitMs = msBetween(at, action.until);
    if (action.kind === 'run-after') followedBy = action.body;
    if (action.kind === 'examine') examine = action;
  }
  return {
    state,
    actions: actions.filter(({ kind }) => kind !== 'keep-tree').map(inShort),
    kept: actions.filter(({ kind }) => kind === 'keep-tree'),
    told,
    ending,
    left,
    agent,
    addition: agent?.prompt.kind === 'task' ? agent.prompt.addition : null,
    deadlineAt: agent?.taskDeadlineAt ?? null,
    waitMs,
    followedBy,
    examine,
  };
}

function inShort(action: Action): string {
  switch (action.kind) {
    case 'publish':
      return action.body.event;
    case 'start-agent':
      return `start-agent ${action.iteration}.${action.attempt}`;
    case 'verify':
      return `verify ${action.check.command}${action.forClaim ? '' : ' unless known'}`;
    case 'run-after':
      return `run-after ${action.command}`;
    case 'say':
      return `say ${action.what.kind}`;
    case 'stop':
      return `stop:${action.ending.status}`;
    case 'request-approval':
      return `request-approval ${action.approval.id}`;
    case 'await-approval':
      return `await-approval ${action.approval.id}${action.patiently ? '' : ' not waiting'}`;
    case 'examine':
      return `examine ${action.part}`;
    case 'settle-tree':
      return `${action.by} ${action.iteration}${action.again ? ' again' : ''}`;
    case 'count-day':
    case 'look':
    case 'wait':
    case 'keep-tree':
      return action.kind;
  }
}
