import type { EndingRowOf } from './ending-row.ts';

/*
 * Every way in which a task can end. Exit codes, notes, colours, wording, the tables in the documents, and what a
 * later run (from cron, or of all task files) does all come from this table. A new ending is a new row.
 */

/** The endings by status. `reasons` holds, for each exit reason, what differs from the other reasons of the status. */
export const ENDINGS = {
  completed: {
    event: 'task_completed',
    exitCode: 0,
    needs: 'nothing',
    words: 'completed',
    says: 'completed',
    isFinal: true,
    verdict: 'done',
    ifOpen: 'begins a new run',
    reasons: { completed: {} },
  },
  failed: {
    event: 'task_failed',
    exitCode: 1,
    note: { word: 'FAILED', title: 'The task failed' },
    needs: 'a person',
    words: 'failed',
    says: 'failed (…)',
    verdict: 'common',
    ifOpen: 'continues',
    reasons: {
      'failed:agent-not-found': {},
      'failed:not-logged-in': { isPassing: true },
      'failed:no-credit': {
        remedy: 'add credit to the account, or use another key',
        isPassing: true,
      },
      'failed:refused-request': {},
      'failed:slash-command': {},
      'failed:agent-error': {
        remedy: 'fix what the agent complains of, then resume; the logs have all that it printed',
        isPassing: true,
      },
      'failed:hook': {
        remedy:
          'look at the hooks in ~/.claude/settings.json, in .claude/settings.json and of the plug-ins',
      },
      'failed:setup': {
        remedy:
          'run the command of --setup yourself in the work tree, fix what it complains of, and resume; ralph resume --setup names another command',
      },
      'failed:bad-option': {},
      'failed:root-refused': {},
      'failed:aborted': {
        remedy:
          'the task was given up on purpose, by the agent (its last message says why) or by a person who rejected it: start over with a better prompt',
        isFinal: true,
        verdict: 'failed',
        ifOpen: 'begins a new run',
      },
      'failed:reported': {},
      'failed:policy': {
        remedy: "the workers' policy does not allow this task: change the task or the policy",
      },
      'failed:repository': { remedy: 'check --repo and --base, and what the workers may read' },
      'failed:origin': {
        remedy:
          'check what the workers may push to the repository; the work tree is kept where the warning says',
      },
      'failed:worker-died': {
        remedy: 'find out on those hosts what killed the workers, such as the OOM killer (dmesg)',
      },
      'failed:bug': {
        exitCode: 70,
        remedy:
          'report it with the output above; the work done so far is kept, and ralph resume continues it',
      },
    },
  },
  max_iterations_reached: {
    event: 'max_iterations_reached',
    exitCode: 3,
    note: { word: 'EXHAUSTED', title: 'The iterations ran out' },
    needs: 'a person',
    words: 'out of iterations',
    says: 'not completed: the iterations ran out',
    more: '--max-iterations +5',
    verdict: 'failed',
    ifOpen: 'begins a new run',
    reasons: { max_iterations: {} },
  },
  timeout: {
    event: 'task_timeout',
    exitCode: 4,
    note: { word: 'TIMEOUT', title: 'The time ran out' },
    needs: 'a person',
    words: 'out of time',
    says: 'not completed: the time limit of the whole task was reached',
    more: '--timeout +30m',
    verdict: 'failed',
    ifOpen: 'begins a new run',
    reasons: { timeout: {} },
  },
  stalled: {
    event: 'task_stalled',
    exitCode: 5,
    note: { word: 'STALLED', title: 'The task makes no progress' },
    needs: 'a person',
    words: 'stalled',
    says: 'not completed: stalled (…)',
    remedy:
      'read the logs and make the prompt clearer; --no-progress-limit 0 lets it continue anyway',
    verdict: 'failed',
    ifOpen: 'begins a new run',
    reasons: {
      'no-progress': {
        remedyOfFailure:
          'fix what the agent complains of; --no-progress-limit 0 lets it continue anyway',
      },
      'same-error': {
        remedyOfFailure:
          'fix what the agent complains of; --same-error-limit 0 lets it continue anyway',
        remedy:
          'read the logs and make the prompt clearer; --same-error-limit 0 lets it continue anyway',
      },
      refused: {
        remedy:
          'allow the tools with --allowed-tools, --edit or --dangerously-skip-permissions; or, if you forbade them on purpose, name them with --accept-refused',
      },
      unproven: {
        remedy: 'fix what was found, or name a command that checks the work with --verify',
      },
      judged: {
        remedy:
          'read what the judge objects to; fix it or make the prompt clearer and resume, which gives as many rounds again, or resume with --no-judge if it is wrong',
      },
      'no-verdict': {
        remedy:
          'find out what keeps the judge from its answer (the logs of its calls are in the folder judge beside those of the iterations); ralph resume begins with the judge, and with --no-judge the claim passes',
        verdict: 'common',
        isPassing: true,
        ifOpen: 'continues',
      },
      'supervisor:same-failing-call': {
        remedy:
          'read the log of the last iteration for what fails, and fix it or make the prompt clearer; --same-failing-limit 0 lets it continue anyway',
      },
      'supervisor:same-call': {
        remedy:
          'read the log of the last iteration for what it repeats, and make the prompt clearer; --same-call-limit 0 lets it continue anyway',
      },
      'supervisor:refused': {
        remedy:
          'allow the tools with --allowed-tools, --edit or --dangerously-skip-permissions; --refused-limit 0 lets it continue anyway',
      },
      'supervisor:tokens': {
        remedy: 'give it a smaller task, or more tokens with --max-iteration-tokens',
      },
      'supervisor:subagents': {
        remedy: 'tell it in the prompt to start fewer sub-agents, or raise --max-subagents',
      },
      interrupted: {
        remedy:
          'something keeps killing ralph: look for a time limit of cron or systemd, or for the OOM killer (dmesg); ralph resume continues',
        ifOpen: 'is refused',
      },
    },
  },
  paused: {
    event: 'task_paused',
    exitCode: 6,
    needs: 'a resume',
    words: 'paused',
    says: 'paused',
    verdict: 'held',
    ifOpen: 'continues',
    reasons: { paused: {} },
  },
  paused_awaiting_approval: {
    event: 'task_paused',
    exitCode: 6,
    needs: 'a resume',
    words: 'waits for your approval',
    says: 'paused',
    verdict: 'held',
    ifOpen: 'continues',
    reasons: {
      'approval-pending': {
        says: 'not completed: waiting for an approval',
      },
      'approval-expired': {
        says: 'not completed: nobody answered the request for approval in time',
      },
    },
  },
  budget_spent: {
    event: 'task_budget_spent',
    exitCode: 8,
    note: { word: 'BUDGET', title: 'The budget is spent' },
    needs: 'a person',
    words: 'out of money',
    says: 'not completed: the budget of the task is spent',
    more: '--max-cost +2',
    verdict: 'held',
    ifOpen: 'is refused',
    reasons: {
      budget: {},
      day_budget: {
        // No flag is needed: this shared budget is renewed every day.
        more: undefined,
        needs: 'a resume',
        says: 'not completed: the budget of the day is spent',
        remedy: 'resume it on the next day, or with a higher --max-cost-per-day',
        isPassing: true,
        ifOpen: 'continues',
      },
    },
  },
  usage_limited: {
    event: 'task_usage_limited',
    exitCode: 75,
    note: {
      word: 'LIMITED',
      title: "The agent's service is unreachable, or its usage limit is reached",
    },
    needs: 'a resume',
    words: 'at a usage limit',
    says: 'not completed: a usage limit or an outage',
    verdict: 'common',
    isPassing: true,
    ifOpen: 'continues',
    reasons: {
      outage: { says: "not completed: the agent's service remained unreachable" },
      usage_limit: { says: 'not completed: a usage limit lasts longer than --max-wait' },
      max_usage: { says: 'not completed: --max-usage is reached' },
    },
  },
  stopped: {
    event: 'task_stopped',
    // A request from another terminal counts as SIGTERM.
    exitCode: 143,
    needs: 'a resume',
    words: 'stopped',
    says: 'stopped (…)',
    verdict: 'interrupted',
    ifOpen: 'continues',
    reasons: {
      'stopped:SIGHUP': { exitCode: 129 },
      'stopped:SIGINT': { exitCode: 130 },
      'stopped:SIGTERM': {},
      'stopped:request': { verdict: 'held' },
    },
  },
} as const satisfies Readonly<Record<string, WithReasons<EndingRowOf>>>;

type WithReasons<R extends EndingRowOf> = R & {
  readonly reasons: Readonly<Record<string, Partial<Omit<R, 'event' | 'note'>>>>;
};

export type EndedStatus = keyof typeof ENDINGS;

/** The status in which a task ended, and its reason. A program that completes its task itself may give any reason. */
export type StatusAndReason = {
  readonly [S in EndedStatus]: {
    readonly status: S;
    readonly exitReason: S extends 'completed'
      ? string
      : keyof (typeof ENDINGS)[S]['reasons'] & string;
  };
}[EndedStatus];

/** Everything about one ending. */
export type EndingRow = EndingRowOf<
  (typeof ENDINGS)[EndedStatus]['event'],
  Extract<(typeof ENDINGS)[EndedStatus], { note: object }>['note']['word']
>;

const ROWS: Readonly<Record<EndedStatus, WithReasons<EndingRow>>> = ENDINGS;

/** All statuses of ended tasks, in the order of the table. */
export const ENDED_STATUSES = Object.keys(ENDINGS) as readonly EndedStatus[];

/** The words that tell the ending in the file names of notes for a person. */
export const NOTE_WORDS: readonly string[] = Object.values(ROWS).flatMap(
  ({ note }) => note?.word ?? [],
);

/** Returns the row of an ending. What the table has for the reason overrides what it has for the status. */
export function endingRow(status: EndedStatus, exitReason: string | null): EndingRow {
  const { reasons, ...row } = ROWS[status];
  const isKnown = exitReason !== null && Object.hasOwn(reasons, exitReason);
  return isKnown ? { ...row, ...reasons[exitReason] } : row;
}

/** Whether a task has ended that is shown to people in this state. */
export function isEnded(state: string): state is EndedStatus {
  return Object.hasOwn(ENDINGS, state);
}

/** Returns the row of the table for a task that is shown to people in this state; null if the task has not ended. */
export function rowOfState(state: string, exitReason: string | null): EndingRow | null {
  return isEnded(state) ? endingRow(state, exitReason) : null;
}
