import type { LostServer, Usage } from '../agent/attempt.ts';
import type { SignFound } from '../agent/sign.ts';
import type { CheckResult } from '../completion/check-result.ts';
import type { PlanStand } from '../completion/plan-file.ts';
import type { JudgeVerdict } from '../judge/verdict.ts';
import type { IndexBehind, Uncommitted } from '../snapshots/settlement.ts';
import type { AgentStanding } from '../task/agent-standing.ts';
import type { EndedStatus, EndingRow } from '../task/endings.ts';
import type { LineChanges } from '../task/line-changes.ts';
import type { Evidence, IterationRecord, TaskGit } from '../task/task-state.ts';

/** What the agent is doing at this moment. */
export type Activity =
  | { readonly kind: 'tool'; readonly tool: string; readonly target: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking' }
  /** How many sub-agents of this attempt are at work. */
  | { readonly kind: 'sub-agents'; readonly working: number };

/** All changes in the work tree since the task's start, whether by the agent or by others. */
export interface Changes {
  readonly commits: number;
  /** New, changed and deleted files, committed or not. */
  readonly files: number;
  /** The paths of the files from the root of the work tree, if there are at most five; absent without snapshots. */
  readonly names?: readonly string[];
  /** The changed lines in text files; null without snapshots. */
  readonly lines: LineChanges | null;
}

/** Everything about how a task ended, for programs that act on it. */
export interface EndingFields {
  readonly status: EndedStatus;
  readonly exit_reason: string;
  readonly exit_code: number;
  readonly iterations_used: number;
  /** The time of the whole task, over all its runs; absent if it is unknown. */
  readonly elapsed_seconds?: number;
  /** The agent that worked last; absent in a task with only one agent. */
  readonly agent?: string;
  /** The judge whose failure ended the task; absent if something else ended it. */
  readonly judge?: string;
  readonly usage: Usage;
  /** The judge's share of `usage`; absent if no judge was asked. */
  readonly usage_of_judge?: Usage;
  readonly evidence: Evidence | null;
  /** If findings against the work ended the task: the flags with which ralph accepts them; otherwise absent. */
  readonly accepting?: readonly string[];
  /** The tool calls that were refused in the last iteration; absent if there are none or the task is completed. */
  readonly refused?: readonly string[];
  /** How much of the plan is done; absent without a plan, and in a completed task. */
  readonly plan?: PlanStand;
  /** Null if git cannot report the changes. */
  readonly changes: Changes | null;
  readonly git: TaskGit;
  /** Work that `--commit` could not commit; absent if there is none. */
  readonly uncommitted?: Uncommitted;
  /** What git's index lacks because a lock kept ralph from updating it; absent if the index is up to date. */
  readonly index_behind?: IndexBehind;
  readonly final_message: string | null;
  readonly note: string | null;
  readonly state_file: string;
  readonly log_dir: string;
}

/** Another agent of the list takes over, at once or after the wait that follows. */
export interface AgentChanged {
  readonly event: 'agent_changed';
  readonly iteration: number;
  readonly from: string;
  readonly to: string;
  /** Why `from` stopped; `free-again` if nothing is wrong with it, but the preferred `to` is free again. */
  readonly why: NonNullable<AgentStanding['why']> | 'free-again';
  /** The ISO instant before which `from` may not start again; null if it may at once, or not in this run at all. */
  readonly until: string | null;
  /** What `from` reported, in one line; null if nothing is wrong with it. */
  readonly error: string | null;
}

/** The events of the journal (the event log of a task) and of `--json`. Programs rely on their names and fields. */
export type EventBody =
  | {
      readonly event: 'task_started';
      readonly prompt: string;
      readonly max_iterations: number;
      /** Absent if a program works on the task itself. */
      readonly sandbox?: 'on' | 'off';
    }
  | {
      readonly event: 'task_resumed';
      readonly iteration: number;
      readonly max_iterations: number;
      /** What this resume has changed about the sandbox, one line per change; absent if nothing. */
      readonly sandbox_changes?: readonly string[];
      /** This and the next three fields are set if the task continues because a person answered. */
      readonly approval_id?: string;
      readonly decision?: 'approved' | 'rejected';
      readonly file?: string;
      readonly reason?: string | null;
    }
  | {
      readonly event: 'task_paused';
      readonly approval_id: string;
      readonly what: string;
      readonly file: string;
      readonly final?: never;
    }
  | {
      readonly event: 'iteration_started';
      readonly iteration: number;
      readonly max_iterations: number;
      readonly attempt: number;
      /** The agent that is started; absent in a task with only one agent. */
      readonly agent?: string;
      /** ISO instant at which the time for the whole task is over; a wait moves it. */
      readonly timeout_at: string;
      /** What the task has used so far. */
      readonly usage: Usage;
    }
  | AgentChanged
  | { readonly event: 'agent_activity'; readonly iteration: number; readonly activity: Activity }
  | {
      readonly event: 'agent_retry';
      readonly iteration: number;
      readonly attempt: number;
      /** Who retries: the agent within its attempt, or ralph with a further attempt. */
      readonly by: 'agent' | 'ralph';
      readonly status: number | null;
      readonly delay_ms: number | null;
      readonly error: string;
    }
  /** Something goes wrong inside the iteration. `detail` says in a clause what was seen. */
  | ({ readonly event: 'supervisor'; readonly iteration: number } & SignFound)
  | {
      /** A tool has not answered for some time. ralph only reports this; the attempt goes on until a time limit. */
      readonly event: 'tool_silent';
      readonly iteration: number;
      readonly tool: string;
      readonly target: string;
      readonly minutes: number;
    }
  | ({ readonly event: 'task_iterated'; readonly iteration: number } & Omit<
      IterationRecord,
      'number'
    > & { readonly detail: string })
  | {
      /** The agent stated the promise (the text for "done") in a doubtful place, and is asked whether it is done. */
      readonly event: 'asked_back';
      readonly iteration: number;
      readonly attempt: number;
      readonly line: string;
      readonly where: string;
    }
  | { readonly event: 'usage_limit_wait'; readonly iteration: number; readonly until: string }
  | {
      readonly event: 'near_miss';
      readonly iteration: number;
      readonly line: string;
      readonly why: string;
      /** What a stop hook (a command run at the agent's end) said when it kept the agent from ending; else absent. */
      readonly said?: string;
    }
  | ({
      /** A tool server (MCP) did not start. Reported once per run. */
      readonly event: 'mcp_unavailable';
      readonly iteration: number;
    } & LostServer)
  | {
      readonly event: 'claim_held';
      readonly iteration: number;
      readonly gate: string;
      readonly detail: string;
    }
  | {
      /** A check ended, or its result on the same tree was reused. Iteration 0: it ran before the first iteration. */
      readonly event: 'check_ended';
      readonly iteration: number;
      readonly check: string;
      readonly command: string;
      readonly verdict: CheckResult['verdict'];
      /** Whether the check judges a claim of completion, and not only the iteration. */
      readonly on_claim: boolean;
      /** Null if the command was killed. */
      readonly exit_code: number | null;
      readonly timed_out: boolean;
      readonly duration_ms: number;
      /** The number of tests that passed or failed; null if unknown. */
      readonly tests: number | null;
      /** How many tests, files and hooks failed; null if unknown. */
      readonly failed: number | null;
      readonly reused: boolean;
    }
  | {
      /** ralph found something that speaks against a claim (the agent's statement that the task is complete). */
      readonly event: 'finding';
      readonly iteration: number;
      readonly finding: string;
      readonly detail: string;
      /** Whether the finding keeps the claim from being accepted. */
      readonly held: boolean;
    }
  | ({
      /** The judge, a second agent, was asked about a claim. It gave its verdict, or none. */
      readonly event: 'judged';
      readonly iteration: number;
    } & JudgeVerdict)
  | {
      readonly event: 'iteration_committed';
      readonly iteration: number;
      readonly commit: string;
      readonly branch: string;
      readonly files: number;
    }
  /** The changes stay uncommitted; `why` gives the reason in a clause. */
  | { readonly event: 'commit_failed'; readonly iteration: number; readonly why: string }
  | {
      readonly event: 'iteration_reverted';
      readonly iteration: number;
      readonly files: number;
      /** Up to 20 paths that were not reverted because somebody else had changed them. */
      readonly kept: readonly string[];
    }
  | { readonly event: 'revert_failed'; readonly iteration: number; readonly why: string }
  | {
      /** The agent wanted to reach a host that the sandbox does not allow. */
      readonly event: 'sandbox_refused';
      readonly iteration: number;
      readonly host: string;
      readonly port: number;
      readonly count: number;
      /** How many further refused hosts have no event of their own; absent if none. */
      readonly more?: number;
    }
  | {
      /** A file appeared that other programs may run or read as their configuration. */
      readonly event: 'sandbox_planted';
      readonly iteration: number;
      /** The path, in some cases followed by a remark in parentheses. */
      readonly path: string;
      /** How many further files have no event of their own; absent if none. */
      readonly more?: number;
    }
  | EndingBody;

export type EndingBody =
  | { readonly [E in PlainEnding]: { readonly event: E } & EndingFields }[PlainEnding]
  | ({ readonly event: 'task_failed'; readonly error: string } & EndingFields)
  /** `error`: the last iteration's, if it failed and no progress or the same error stalled the task; else null. */
  | ({ readonly event: 'task_stalled'; readonly error: string | null } & EndingFields)
  | ({
      readonly event: 'max_iterations_reached';
      readonly max_iterations: number;
    } & EndingFields)
  | ({ readonly event: 'task_usage_limited'; readonly until: string | null } & EndingFields)
  /** `until`: when the next day begins, if the budget of the day is spent. */
  | ({ readonly event: 'task_budget_spent'; readonly until: string | null } & EndingFields)
  | ({ readonly event: 'task_paused'; readonly final: true } & EndingFields);

/** The endings whose event has no fields besides `EndingFields`. */
type PlainEnding = Exclude<
  EndingRow['event'],
  | 'task_failed'
  | 'task_stalled'
  | 'max_iterations_reached'
  | 'task_usage_limited'
  | 'task_budget_spent'
  | 'task_paused'
>;

/** An event with its instant and task, as the journal contains it. */
export type RalphEvent = { readonly at: string; readonly task_id: string } & EventBody;

/** Adds the instant and the task to an event. The order of the fields is the order in the journal. */
export function stamped(body: EventBody, at: string, taskId: string): RalphEvent {
  const { event, ...fields } = body;
  // The cast is safe: the spread preserves the union, but TypeScript cannot see that.
  return { event, at, task_id: taskId, ...fields } as RalphEvent;
}
