import type { AttemptFacts, RetryFacts } from '../core/agent/attempt.ts';
import type { ProgressReport } from '../core/completion/progress-report.ts';
import type { CommandResult, Sightings } from '../core/completion/sightings.ts';
import type { Activity, Changes, RalphEvent } from '../core/machine/events.ts';
import type { Hint } from '../core/machine/hints.ts';
import type {
  ApprovalAnswer,
  Doing,
  Ending,
  LoopState,
  Saying,
  StopCause,
} from '../core/machine/loop-state.ts';
import type { Approval, EndedStatus, ThereBefore } from '../core/task/task-state.ts';

/** The outside world, as the loop sees it. `compose/run.ts` binds each port to an effect. */
export interface Ports {
  readonly agent: AgentRunner;
  readonly store: StateStore;
  readonly prompt: PromptSource;
  readonly workspace: Workspace;
  readonly notes: NoteWriter;
  readonly reporter: Reporter;
  readonly clock: RunClock;
  readonly stops: StopRequests;
  readonly requests: Requests;
  readonly approvals: ApprovalDesk;
  /** Aborts, with the error, where ralph's own code has thrown and nobody waits for it. */
  readonly bugs: AbortSignal;
  /** Has whatever runs ended: the loop cannot go on. */
  readonly abandon: () => void;
  /** The exit code that goes with an ending. */
  readonly exitCode: (status: EndedStatus, exitReason: string) => number;
}

/** Starts the agent once and sees it to its end. Never rejects for what an agent does. */
export interface AgentRunner {
  run(request: AgentRequest): Promise<AttemptFacts>;
  /** Ends what earlier attempts left running, at once if `hurry` aborts. Called once, at the end. */
  close(hurry: AbortSignal): Promise<void>;
}

export interface AgentRequest {
  readonly prompt: Uint8Array;
  readonly iteration: number;
  readonly attempt: number;
  /** ISO instant at which the whole-task limit passes. */
  readonly taskDeadlineAt: string;
  readonly resumeSession: string | null;
  readonly budgetUsd: number | null;
  readonly stops: StopRequests;
  readonly listener: AgentListener;
}

/** What is heard of the agent while it runs. Texts are raw: whoever shows them cleans them. */
export interface AgentListener {
  activity(activity: Activity): void;
  retry(retry: RetryFacts): void;
  text(text: string): void;
}

/** Keeps the state. A failure to write is said once and does not stop the loop. */
export interface StateStore {
  /** `events` are those that are told once this is saved: whoever is killed before tells them later. */
  save(state: LoopState, events: readonly RalphEvent[]): Promise<void>;
  /** Moves a completed task to the history. */
  archive(): Promise<void>;
  /** Where state and logs lie now. */
  places(): Places;
}

interface Places {
  readonly stateFile: string;
  readonly logDir: string;
}

/** The user's prompt as bytes, read afresh for each iteration. */
export interface PromptSource {
  read(): Promise<Uint8Array>;
}

/** The folder the agent works in, and the user's own commands about it. */
export interface Workspace {
  /** Whether `look` runs no command and reads no more than a few folders. */
  readonly isQuick: boolean;
  /** Notes how things stand before an iteration, so that `look` can tell what changed. */
  mark(): Promise<void>;
  look(): Promise<Sightings>;
  /** Runs the command that checks a claim. */
  verify(command: string): Promise<CommandResult>;
  /** Runs the command that follows an iteration; the event is its standard input. */
  after(command: string, event: RalphEvent): Promise<void>;
  /** What has changed since the commit that the task began at; null where nothing can tell soon. */
  changes(gitBase: string, hurry: AbortSignal): Promise<Changes | null>;
  /** Puts away what a completed task was made from. */
  finished(): Promise<void>;
  /** Runs the command that follows the end, if there is one. */
  ended(event: RalphEvent): Promise<void>;
}

/** Where a person is asked. */
export interface ApprovalDesk {
  /** Puts the request where a person finds it; null where it cannot be written, which is said. */
  request(approval: Approval): Promise<ThereBefore | null>;
  /** Waits for the answer; a pause or a stop interrupts it. */
  answer(approval: Approval, patiently: boolean, signal: AbortSignal): Promise<ApprovalAnswer>;
}

/** What people ask of a running loop from elsewhere. */
export interface Requests {
  /** Hints for the agent that have come since the last call. */
  hints(): Promise<readonly Hint[]>;
  /** What scripts have reported since the last call, in its order. */
  progress(): Promise<readonly ProgressReport[]>;
  /** To be called once the state that holds all of that is saved: it is removed only then. */
  settled(): Promise<void>;
  /** Aborts when the loop is asked to hold after the running iteration. */
  readonly pause: AbortSignal;
}

/** Leaves a note for a human. Resolves to its path, or null when it could not be written. */
export interface NoteWriter {
  write(state: LoopState, ending: Ending): Promise<string | null>;
}

/** Tells people and programs what happens. Never throws. */
export interface Reporter {
  publish(event: RalphEvent): void;
  /** Whether anybody would take note of this now: an agent may say thousands of things a second. */
  wants(what: Activity['kind'] | 'agent-text'): boolean;
  /** A text of the agent, as it comes. */
  agentText(text: string): void;
  say(what: Saying): void;
  /** What is done from now on, until an event or the next of these. */
  doing(what: Doing): void;
}

export interface Clock {
  /** The present instant, ISO 8601 UTC. */
  now(): string;
  /** Milliseconds since some moment, by a clock that nobody sets and that stands still while the machine sleeps. */
  monotonicMs(): number;
  /** In [0, 1). */
  random(): number;
  /** Resolves at the instant, or as soon as the signal aborts. */
  waitUntil(instant: string, signal: AbortSignal): Promise<void>;
}

export interface RunClock extends Clock {
  /** Milliseconds so far in which ralph itself was stopped, by Ctrl-Z or with its container. */
  heldUpMs(): number;
}

/** Requests to stop, from signals or from another terminal. */
export interface StopRequests {
  /** Aborts with the first request. */
  readonly signal: AbortSignal;
  /** Aborts with the second: no more courtesy. */
  readonly hurry: AbortSignal;
  cause(): StopCause | null;
}
