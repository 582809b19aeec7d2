import type { AttemptFacts, MetInSandbox } from '../../src/core/agent/attempt.ts';
import type { CommandResult } from '../../src/core/completion/command-result.ts';
import type { ProgressReport } from '../../src/core/completion/progress-report.ts';
import { NOTHING_SEEN, type Sightings } from '../../src/core/completion/sightings.ts';
import type { Notice } from '../../src/core/machine/action.ts';
import type { RalphEvent } from '../../src/core/machine/events.ts';
import type { ApprovalAnswer } from '../../src/core/machine/loop-event.ts';
import type { LoopState, StopCause } from '../../src/core/machine/loop-state.ts';
import type { Settlement } from '../../src/core/snapshots/settlement.ts';
import type { DaySpending } from '../../src/core/task/day-budget.ts';
import { laterBy, msBetween } from '../../src/core/task/task-state.ts';
import type { AgentRequest, Ports } from '../../src/loop/ports.ts';
import { rawResult } from './checks.ts';
import { decidersSeen } from './loop-in-hand.ts';
import { START } from './new-task.ts';

/** One start of the agent, as the test wants it. */
interface ScriptedAttempt {
  readonly facts: AttemptFacts;
  /** What happens while the agent runs; the clock stands at its end already. */
  readonly during?: (request: AgentRequest) => void;
}

export interface Script {
  /** One for each start of the agent, in order. */
  readonly attempts: readonly (AttemptFacts | ScriptedAttempt)[];
  /** One for each look; nothing is seen when they are used up. */
  readonly sightings?: readonly Sightings[];
  /** One for each time the claim is verified; it passes when they are used up. */
  readonly verified?: readonly CommandResult[];
  /** What comes of each request for an approval; it expires when they are used up. */
  readonly answers?: readonly ApprovalAnswer[];
  /** What comes of each commit and revert; nothing when they are used up. */
  readonly settlements?: readonly Settlement[];
  /** What was spent at each counting of the day; nothing when they are used up. */
  readonly days?: readonly DaySpending[];
  /** What the sandbox met by each asking, the first before the first event; nothing when used up. */
  readonly met?: readonly (MetInSandbox | null)[];
  /** Whether `effects` contains the snapshots, too. */
  readonly showsSnapshots?: boolean;
  /** Whether `effects` contains the proof, too. */
  readonly showsProof?: boolean;
  /** What nobody wants to be told of. */
  readonly unwanted?: readonly string[];
  /** Whether a look asks git, so that it takes time; it does if nothing is said. */
  readonly usesGit?: boolean;
  /** The hints that have come by each reading, the first before the first event; none when used up. */
  readonly hints?: readonly (readonly string[])[];
  /** What scripts have reported by each reading; nothing when used up. */
  readonly progress?: readonly (readonly ProgressReport[])[];
  /** The prompt as it stands at each reading, the last one from then on. */
  readonly prompts?: readonly Uint8Array[];
  /** What happens in an effect, by the words of `effects`. */
  readonly on?: (effect: string, ports: FakePorts) => void;
  /** Where the note was written; null: it could not be. */
  readonly notePath?: string | null;
  /** The instant at which the script begins, if it is not `START`. */
  readonly from?: string;
}

/** Ports that only write down what is asked of them, over a clock that never really waits. */
export interface FakePorts {
  readonly ports: Ports;
  /**
   * Every effect in its order: `save working 1.1`, `tell task_started`, `read prompt`,
   * `mark`, `run agent 1.1`, `look`, `verify npm test`, `after ./sync`, `wait 2000`, `close agent`,
   * `write note`, `archive`, `on-end task_completed`; `settle hints` where some were read.
   */
  readonly effects: string[];
  readonly events: RalphEvent[];
  readonly saved: LoopState[];
  readonly requests: AgentRequest[];
  readonly texts: string[];
  readonly sayings: Notice[];
  /** The events that `--after` and `--on-end` got. */
  readonly given: RalphEvent[];
  /** The signals by which the agent's end could be hurried. */
  readonly closedWith: AbortSignal[];
  /** A signal comes, or somebody else asks. */
  readonly stop: (by: StopCause) => void;
  /** The loop is asked to hold after the running iteration. */
  readonly pause: () => void;
  /** The machine sleeps, or its clock is set, to an earlier time too. */
  readonly jump: (ms: number) => void;
  /** ralph itself is stopped for so long. */
  readonly holdUp: (ms: number) => void;
  /** Something of ralph's own throws, and nobody waits for it. */
  readonly break: (error: Error) => void;
}

export function fakePorts(script: Script): FakePorts {
  const effects: string[] = [];
  const events: RalphEvent[] = [];
  const saved: LoopState[] = [];
  const requests: AgentRequest[] = [];
  const texts: string[] = [];
  const sayings: Notice[] = [];
  const given: RalphEvent[] = [];
  const closedWith: AbortSignal[] = [];
  const stopped = new AbortController();
  const paused = new AbortController();
  const bugs = new AbortController();
  const attempts = [...script.attempts];
  const sightings = [...(script.sightings ?? [])];
  const verified = [...(script.verified ?? [])];
  const answers = [...(script.answers ?? [])];
  const settlements = [...(script.settlements ?? [])];
  const days = [...(script.days ?? [])];
  const met = [...(script.met ?? [])];
  const hints = [...(script.hints ?? [])];
  const progress = [...(script.progress ?? [])];
  const prompts = [...(script.prompts ?? [new TextEncoder().encode('Fix the tests.')])];
  let at = script.from ?? START;
  let asleepMs = 0;
  let heldUpMs = 0;
  let unsettled = 0;
  let cause: StopCause | null = null;
  let archived = false;

  /** What a driver that was killed in the midst of an effect comes to: nothing follows. */
  let killed: unknown = null;
  const effect = (words: string): void => {
    if (killed !== null) throw killed;
    effects.push(words);
    try {
      script.on?.(words, fake);
    } catch (error) {
      killed = error;
      throw error;
    }
  };

  const ports: Ports = {
    examiner: {
      async examine({ part }) {
        effect(`examine ${part}`);
        return decidersSeen();
      },
    },
    agent: {
      async run(request) {
        requests.push(request);
        const next = attempts.shift();
        if (next === undefined) throw new Error('the script has no further attempt');
        const { facts, during } = 'facts' in next ? next : { facts: next, during: undefined };
        at = laterBy(at, facts.durationMs);
        effect(`run agent ${request.iteration}.${request.attempt}`);
        during?.(request);
        return facts;
      },
      async close(hurry) {
        closedWith.push(hurry);
        effect('close agent');
      },
    },
    store: {
      async save(state) {
        saved.push(structuredClone(state));
        const { current_iteration, attempt } = state.task;
        effect(`save ${state.step.kind} ${current_iteration}.${attempt}`);
      },
      async archive() {
        archived = true;
        effect('archive');
      },
      places: () => ({
        stateFile: archived ? 'history/task-1.json' : 'task-1.json',
        logDir: archived ? 'history/task-1' : 'task-1',
      }),
    },
    prompt: {
      async read() {
        effect('read prompt');
        return (prompts.length > 1 ? prompts.shift() : prompts[0]) ?? new Uint8Array();
      },
    },
    snapshots: {
      async before(iteration) {
        if (script.showsSnapshots === true) effect(`keep before ${iteration}`);
      },
      async after({ iteration, as, outcome }) {
        if (script.showsSnapshots === true) effect(`keep ${as} ${iteration}: ${outcome}`);
      },
      disturb() {
        if (script.showsSnapshots === true) effect('disturb');
      },
    },
    settler: {
      async commit({ iteration, again }) {
        effect(`commit ${iteration}${again ? ' again' : ''}`);
        return settlements.shift() ?? { kind: 'nothing' };
      },
      async revert({ iteration, again }) {
        effect(`revert ${iteration}${again ? ' again' : ''}`);
        return settlements.shift() ?? { kind: 'nothing' };
      },
      async finish(left) {
        if (left !== null) effect(`finish ${left.since} to ${left.iteration}`);
        const settlement = left === null ? null : (settlements.shift() ?? { kind: 'nothing' });
        return { settlement, uncommitted: null, indexBehind: null };
      },
    },
    observer: {
      usesGit: script.usesGit ?? true,
      async mark() {
        effect('mark');
      },
      async look() {
        effect('look');
        return sightings.shift() ?? NOTHING_SEEN;
      },
      changes: async () => null,
      plan: () => null,
    },
    commands: {
      async verify({ command }) {
        effect(`verify ${command}`);
        return rawResult(verified.shift() ?? { command, exitCode: 0, timedOut: false, output: '' });
      },
      async after(command, event) {
        given.push(event);
        effect(`after ${command}`);
      },
      async ended(event) {
        given.push(event);
        effect(`on-end ${event.event}`);
      },
    },
    async keepProof({ proof }) {
      if (script.showsProof === true) effect(`keep proof: ${proof?.evidence.text ?? 'none'}`);
    },
    moveToDone: async () => {},
    async countDay() {
      effect('count day');
      return days.shift() ?? { spentUsd: 0, until: laterBy(START, 86_400_000) };
    },
    takeMet: async () => met.shift() ?? null,
    notes: {
      async write(_state, ending) {
        effect(`write note ${ending.note}`);
        return script.notePath === undefined ? 'Needs_Action/note.md' : script.notePath;
      },
      clear() {},
    },
    reporter: {
      publish(event) {
        events.push(event);
        effect(`tell ${event.event}`);
      },
      wants: (what) => !(script.unwanted ?? []).includes(what),
      agentText(text) {
        texts.push(text);
      },
      say(what) {
        sayings.push(what);
        effect(`say ${what.kind}`);
      },
      doing() {},
    },
    clock: {
      now: () => at,
      monotonicMs: () => Date.parse(at) - asleepMs,
      heldUpMs: () => heldUpMs,
      random: () => 0,
      async waitUntil(instant, signal) {
        effect(`wait ${msBetween(at, instant)}`);
        // A request that came in the effect cuts the wait short, and an instant that is past is none.
        if (!signal.aborted && msBetween(at, instant) > 0) at = instant;
      },
    },
    stops: {
      signal: stopped.signal,
      hurry: new AbortController().signal,
      cause: () => cause,
    },
    approvals: {
      async request(approval) {
        effect(`request approval ${approval.id}`);
        return { approved: null, rejected: null };
      },
      async answer(approval, patiently) {
        effect(`await approval ${approval.id}${patiently ? '' : ', not waiting'}`);
        return answers.shift() ?? { kind: 'none', why: 'expired' };
      },
    },
    requests: {
      async hints() {
        const read = hints.shift() ?? [];
        unsettled += read.length;
        return read.map((text) => ({ text, isProven: true }));
      },
      progress: async () => progress.shift() ?? [],
      async settled() {
        if (unsettled > 0) effect('settle hints');
        unsettled = 0;
      },
      pause: paused.signal,
    },
    bugs: bugs.signal,
    abandon: () => effect('abandon'),
  };

  const fake: FakePorts = {
    ports,
    effects,
    events,
    saved,
    requests,
    texts,
    sayings,
    given,
    closedWith,
    jump(ms) {
      at = laterBy(at, ms);
      asleepMs += ms;
    },
    holdUp(ms) {
      at = laterBy(at, ms);
      heldUpMs += ms;
    },
    break: (error) => bugs.abort(error),
    stop(by) {
      cause ??= by;
      stopped.abort();
    },
    pause() {
      paused.abort();
    },
  };
  return fake;
}
