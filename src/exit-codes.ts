/**
 * All exit codes. A test compares `EXIT_CODES` with the table in the README.
 * Codes from 64 follow sysexits.h; 128 + n means signal n, as in shells.
 */

/** The task cannot continue. */
export const EXIT_FAILED = 1;
/** Bad flags, config or prompt; nothing was started. */
export const EXIT_USAGE = 2;
/** A live loop already has this task. */
export const EXIT_ALREADY_ACTIVE = 7;
/** A bug in ralph. */
export const EXIT_BUG = 70;

const BY_STATUS = {
  completed: 0,
  failed: 1,
  max_iterations_reached: 3,
  timeout: 4,
  stalled: 5,
  paused: 6,
  paused_awaiting_approval: 6,
  budget_spent: 8,
  usage_limited: 75,
} as const;

const BY_SIGNAL: Readonly<Record<string, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/**
 * Returns the exit code of an ended task. For a stopped task, `exitReason` names
 * the signal: `stopped:SIGINT`. A request from another terminal counts as SIGTERM.
 */
export function exitCodeFor(
  status: keyof typeof BY_STATUS | 'stopped',
  exitReason: string,
): number {
  if (exitReason === 'failed:bug') return EXIT_BUG;
  if (status !== 'stopped') return BY_STATUS[status];
  return BY_SIGNAL[exitReason.replace(/^stopped:/, '')] ?? 143;
}

/** The table of exit codes for people. */
export const EXIT_CODES: readonly {
  readonly code: string;
  readonly status: string;
  readonly meaning: string;
}[] = [
  { code: '0', status: 'completed', meaning: 'a completion condition held, and every gate passed' },
  { code: '1', status: 'failed', meaning: 'cannot go on; `exit_reason` says why' },
  { code: '2', status: '–', meaning: 'usage: bad flags or prompt; nothing was started' },
  { code: '3', status: 'max_iterations_reached', meaning: 'the iterations ran out' },
  { code: '4', status: 'timeout', meaning: 'the whole-task limit passed' },
  {
    code: '5',
    status: 'stalled',
    meaning:
      'no progress, the same error again and again, nothing but refused tools, or a claim that nothing proves',
  },
  {
    code: '6',
    status: 'paused, paused_awaiting_approval',
    meaning: 'held by `ralph pause`, or waits for an approval; `ralph resume` goes on',
  },
  { code: '7', status: '–', meaning: 'a live loop already has this task' },
  { code: '8', status: 'budget_spent', meaning: '`--max-cost` reached' },
  {
    code: '70',
    status: '–, failed',
    meaning: 'a bug in ralph; a task that ran is `failed`, `failed:bug`',
  },
  {
    code: '75',
    status: 'usage_limited',
    meaning:
      'a usage limit or outage outlasts `--max-wait`, or `--max-usage` reached: try again later',
  },
  {
    code: '129, 130, 143',
    status: 'stopped',
    meaning: 'SIGHUP, SIGINT, SIGTERM',
  },
];
