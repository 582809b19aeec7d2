import type { AttemptFacts, MetInSandbox, RetryFacts } from '../core/agent/attempt.ts';
import type { SignFound } from '../core/agent/sign.ts';
import type { RawCheckResult } from '../core/completion/check-result.ts';
import type { Examination, ExamRequest } from '../core/completion/examination.ts';
import type { PlanStand } from '../core/completion/plan-file.ts';
import type { ProgressReport } from '../core/completion/progress-report.ts';
import type { Sightings } from '../core/completion/sightings.ts';
import type { Notice, Question, RalphActivity, TreeToKeep } from '../core/machine/action.ts';
import type { Activity, Changes, RalphEvent } from '../core/machine/events.ts';
import type { ApprovalAnswer } from '../core/machine/loop-event.ts';
import type { Ending, LoopState, StopCause } from '../core/machine/loop-state.ts';
import type { Hint } from '../core/prompt/hints.ts';
import type { Check } from '../core/settings/checks.ts';
import type { LeftAtEnd, Settlement, TreeToSettle } from '../core/snapshots/settlement.ts';
import type { DaySpending } from '../core/task/day-budget.ts';
import type { Approval, ThereBefore } from '../core/task/task-state.ts';

/** The outside world, as the loop sees it. `compose/run.ts` binds each port to an effect. */
export interface Ports {
  readonly agent: AgentRunner;
  readonly store: StateStore;
  readonly prompt: PromptSource;
  readonly snapshots: Snapshots;
  readonly examiner: Examiner;
  readonly settler: WorkTreeSettler;
  readonly observer: Observer;
  readonly commands: Commands;
  readonly notes: NoteWriter;
  readonly reporter: Reporter;
  readonly clock: RunClock;
  readonly stops: StopRequests;
  readonly requests: Requests;
  readonly approvals: ApprovalDesk;
  /** Counts what the vault's (the task folder's) tasks spent today; called only with a daily budget. Never rejects. */
  readonly countDay: () => Promise<DaySpending>;
  /**
   * Returns what the sandbox noticed since the last call: refused hosts, and new files that other programs may run.
   * Null if nothing ran in it. Never rejects.
   */
  readonly takeMet: () => Promise<MetInSandbox | null>;
  /** Aborts with an error thrown where no caller can catch it, or a `RunDropped` if the task must be left to others. */
  readonly bugs: AbortSignal;
  /** Writes the proof of a completed task, if it has checks. Reports a failure, and never rejects. */
  readonly keepProof: (state: LoopState) => Promise<void>;
  readonly moveToDone: () => Promise<void>;
  /** Ends everything that is running, because the loop cannot continue. */
  readonly abandon: () => void;
}

/** Starts the agent once and waits until it has ended. Never rejects because of what the agent does. */
export interface AgentRunner {
  run(request: AgentRequest): Promise<AttemptFacts>;
  /** Ends the processes that earlier attempts left running, immediately if `hurry` aborts. */
  close(hurry: AbortSignal): Promise<void>;
}

export interface AgentRequest
  extends Omit<Extract<Question, { kind: 'start-agent' }>, 'kind' | 'prompt'> {
  readonly prompt: Uint8Array;
  readonly stops: StopRequests;
  readonly listener: AgentListener;
}

/** Receives the agent's output while it runs. Texts are raw: clean them before showing them. */
export interface AgentListener {
  activity(activity: Activity): void;
  retry(retry: RetryFacts): void;
  text(text: string): void;
  /** Called with each sign that the attempt goes wrong. After a sign with the action `cut`, the agent is ended. */
  found(sign: SignFound): void;
  /** Called with a tool call that has had no answer for `minutes`. */
  silentTool(call: SilentCall): void;
}

/** A tool call that has not been answered. */
export interface SilentCall {
  readonly tool: string;
  readonly target: string;
  readonly minutes: number;
}

/** Stores the state. A failed write is reported once and does not stop the loop. */
export interface StateStore {
  /** Stores `events`, too. They are published afterwards, or by a later run if this process is killed before. */
  save(state: LoopState, events: readonly RalphEvent[]): Promise<void>;
  /** Moves a completed task to the history. */
  archive(): Promise<void>;
  /** Returns the current paths of the state file and the logs. */
  places(): Places;
}

interface Places {
  readonly stateFile: string;
  readonly logDir: string;
}

/** The user's prompt as bytes, read again for each iteration. */
export interface PromptSource {
  read(): Promise<Uint8Array>;
}

/** Observes the folder in which the agent works. */
export interface Observer {
  /** Whether an observation runs git at present. */
  readonly usesGit: boolean;
  /** Records the folder before an iteration, so that the next observation can find what changed. */
  mark(): Promise<void>;
  look(): Promise<Sightings>;
  /**
   * Returns the changes since `base`, the commit at which the task began (null if there was none), with the commits on
   * `branches`. Resolves to null if they cannot be found quickly.
   */
  changes(
    since: { readonly base: string | null; readonly branches: readonly string[] },
    hurry: AbortSignal,
  ): Promise<Changes | null>;
  /** Returns how much of the plan is done; null without a plan. */
  plan(): PlanStand | null;
}

/** Saves snapshots of the work tree, so that every change can be undone. A failure is reported once. */
export interface Snapshots {
  /**
   * Saves the tree before an attempt, unless the newest snapshot is the same. If `disturb` was not called since that
   * snapshot, the files are not read again; a change that was missed this way is in the next snapshot.
   */
  before(iteration: number): Promise<void>;
  /** Tells the snapshots that files may change: call it before time passes or a command runs. */
  disturb(): void;
  /** Saves the tree after an attempt, unless the attempt changed nothing. */
  after(tree: TreeToKeep): Promise<void>;
}

/** Examines the agent's claim that the task is complete, beyond what its checks alone show. Never rejects. */
export interface Examiner {
  examine(request: ExamRequest): Promise<Examination>;
}

/** Commits or undoes the changes of an iteration. Never rejects. */
export interface WorkTreeSettler {
  commit(tree: TreeToSettle): Promise<Settlement>;
  revert(tree: TreeToSettle): Promise<Settlement>;
  /**
   * Called when the task ends: tries again to commit what could not be committed, and brings the user's git index up to
   * date. `settlement` is null if there was nothing to commit.
   */
  finish(
    left: TreeToSettle | null,
  ): Promise<LeftAtEnd & { readonly settlement: Settlement | null }>;
}

/** The user's own commands. What they change does not count as the agent's progress. */
export interface Commands {
  /**
   * Runs a check. If it is not for a claim of completion (`forClaim`) and has already run on the same tree, returns the
   * earlier result instead.
   */
  verify(check: Check, forClaim: boolean): Promise<RawCheckResult>;
  /** Runs the user's command after an iteration (`--after`), with the event on its standard input. */
  after(command: string, event: RalphEvent): Promise<void>;
  /** Runs the user's command for the end of the task (`--on-end`), if there is one. */
  ended(event: RalphEvent): Promise<void>;
}

/** Asks a person for approval. */
export interface ApprovalDesk {
  /** Writes the request where a person finds it. Reports a failed write and returns null. */
  request(approval: Approval): Promise<ThereBefore | null>;
  /** Waits for the answer until the request expires or `signal` aborts; without `patiently` it checks only once. */
  answer(approval: Approval, patiently: boolean, signal: AbortSignal): Promise<ApprovalAnswer>;
}

/** Requests that people make to a running loop from another process. */
export interface Requests {
  /** Returns the hints for the agent that arrived since the last call. */
  hints(): Promise<readonly Hint[]>;
  /** Returns the progress that scripts reported since the last call, in order. */
  progress(): Promise<readonly ProgressReport[]>;
  /** Removes the hints and reports that were returned. Call it only after the state that contains them is saved. */
  settled(): Promise<void>;
  /** Aborts when the loop is asked to pause after the running iteration. */
  readonly pause: AbortSignal;
}

/** The notes of one task for a human. */
export interface NoteWriter {
  /** Resolves to the path of the note, or to null if it could not be written. */
  write(state: LoopState, ending: Ending): Promise<string | null>;
  /** Removes the notes about the completed task, from this run and from earlier runs. */
  clear(): void;
}

/** Tells people and programs what happens. Never throws. */
export interface Reporter {
  publish(event: RalphEvent): void;
  /** Whether anybody receives `what` at present. Ask before you report it: thousands can come in a second. */
  wants(what: Activity['kind'] | 'agent-text'): boolean;
  /** Called with the agent's text as it arrives. */
  agentText(text: string): void;
  say(what: Notice): void;
  /** Announces the current activity, which lasts until the next event or the next call. */
  doing(what: RalphActivity): void;
}

export interface Clock {
  /** Returns the current instant, ISO 8601 UTC. */
  now(): string;
  /** Returns milliseconds of a monotonic clock: it cannot be set, and stops while the machine sleeps. */
  monotonicMs(): number;
  /** Returns a random number in [0, 1). */
  random(): number;
  /** Resolves at the instant, or as soon as the signal aborts. */
  waitUntil(instant: string, signal: AbortSignal): Promise<void>;
}

export interface RunClock extends Clock {
  /** Returns for how many milliseconds in total this process was suspended, by Ctrl-Z or with its container. */
  heldUpMs(): number;
}

/** Requests to stop, from signals or from another terminal. */
export interface StopRequests {
  /** Aborts with the first request. */
  readonly signal: AbortSignal;
  /** Aborts with the second request: stop immediately. */
  readonly hurry: AbortSignal;
  /** Returns who or what made the first request; null before the first request. */
  cause(): StopCause | null;
}
