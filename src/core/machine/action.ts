import type { AgentName } from '../agent/agents/agents.ts';
import type { ExamPart, ExamRequest } from '../completion/examination.ts';
import type { Check } from '../settings/checks.ts';
import type { TreeToSettle } from '../snapshots/settlement.ts';
import type { SignLimits } from '../supervisor/supervisor.ts';
import type { Approval, Wait } from '../task/task-state.ts';
import type { EventBody } from './events.ts';
import type { Ending, LoopState, WayToSettle } from './loop-state.ts';

/** What the loop is to do next: a question, which the next event answers, or an announcement, which has no answer. */
export type Action = Question | Announcement;

export type Question =
  | {
      readonly kind: 'start-agent';
      readonly agent: AgentName;
      readonly iteration: number;
      readonly attempt: number;
      readonly prompt: AgentPrompt;
      /** ISO instant at which the time limit of the whole task is reached. */
      readonly taskDeadlineAt: string;
      /** The session for the agent to resume; null starts a new one. */
      readonly resumeSession: string | null;
      /** What is left of the budget in US dollars, for an agent that can enforce a budget; null: no limit. */
      readonly budgetUsd: number | null;
      /** The limit of each warning sign (such as a repeated tool call, or too many tokens) in this attempt. */
      readonly limits: SignLimits;
    }
  | { readonly kind: 'count-day' }
  | { readonly kind: 'look' }
  | {
      readonly kind: 'verify';
      readonly check: Check;
      /** Whether the check judges a claim of completion. If so, it runs even if its result on this tree is known. */
      readonly forClaim: boolean;
    }
  | ({ readonly kind: 'examine' } & ExamRequest)
  | ({ readonly kind: 'settle-tree'; readonly by: WayToSettle } & TreeToSettle)
  /** Runs the user's `--after` command with the event `body` on its standard input. */
  | { readonly kind: 'run-after'; readonly command: string; readonly body: EventBody }
  | { readonly kind: 'wait'; readonly until: string }
  /** Ends the processes that the task has left running, and writes the request for a person. */
  | { readonly kind: 'request-approval'; readonly approval: Approval }
  /** `patiently`: waits until the request expires; otherwise checks once for an answer. */
  | { readonly kind: 'await-approval'; readonly approval: Approval; readonly patiently: boolean };

/** The prompt for one start of the agent. */
export type AgentPrompt =
  /** The user's prompt, followed by `addition`. */
  | { readonly kind: 'task'; readonly addition: string }
  /** Only a question about the agent's own answer. */
  | { readonly kind: 'question'; readonly text: string };

/** An action that has no answer. */
export type Announcement =
  | { readonly kind: 'publish'; readonly body: EventBody }
  | { readonly kind: 'say'; readonly what: Notice }
  | ({ readonly kind: 'keep-tree' } & TreeToKeep)
  /** Ends the loop. `left`: the work that could not be committed; null if there is none. */
  | { readonly kind: 'stop'; readonly ending: Ending; readonly left: TreeToSettle | null };

/** The snapshot of the present work tree that is to be made. */
export interface TreeToKeep {
  readonly iteration: number;
  /**
   * `end`: after an iteration that counts. `attempt`: after an attempt that is retried, or whose driver (the process
   * that ran the task) died. `missing-end`: like `end`, but only if an earlier driver did not make this snapshot.
   */
  readonly as: 'end' | 'attempt' | 'missing-end';
  /** How the attempt ended; the values are those of `iterations[].outcome` in the state file. */
  readonly outcome: string;
}

/** A notice for people that is not an event. */
export type Notice = { readonly kind: 'flag-dropped'; readonly flag: string };

/** What ralph is doing while the agent is not running, for the display. */
export type RalphActivity =
  | { readonly kind: 'look' }
  | { readonly kind: 'verify'; readonly command: string }
  | { readonly kind: 'examine'; readonly part: ExamPart }
  | { readonly kind: 'settle'; readonly by: WayToSettle }
  | { readonly kind: 'after'; readonly command: string }
  | { readonly kind: 'wait'; readonly wait: Wait }
  | { readonly kind: 'approval'; readonly what: string; readonly until: string }
  /** ralph was asked to stop, and ends the running processes. */
  | { readonly kind: 'stop' };

export interface Transition {
  readonly state: LoopState;
  readonly actions: readonly Action[];
}
