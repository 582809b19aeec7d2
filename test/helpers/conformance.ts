/*
 * The cases that every agent has to pass, or why it cannot. The test plays them from recorded output, and the
 * table in docs/agents.md is made from them.
 */

/** The agents that have events. */
export const EVENT_AGENTS = ['claude', 'codex', 'gemini', 'opencode', 'qwen', 'copilot'] as const;
export type EventAgent = (typeof EVENT_AGENTS)[number];

/** What an attempt comes to. A field that is absent is not compared. */
interface Expected {
  /** `answered`, `transient`, `fatal:not-logged-in`, `usage-limited until 2026-…`. */
  readonly outcome?: string;
  readonly message?: string | null;
  /** The refused tools. */
  readonly refused?: readonly string[];
  readonly tokens?: readonly [input: number, output: number];
  readonly costUsd?: number;
  /** A part of the output that the next prompt gets. */
  readonly partial?: string;
  readonly hasSession?: boolean;
}

/** How a recording ended. */
export interface Played extends Expected {
  /** The recording, in the agent's folder; those of claude are beside the folders. */
  readonly file: string;
  /** Default 0; `cut` where the iteration limit passed, `hopeless` where ralph ends the agent itself. */
  readonly end?: number | 'cut' | 'hopeless';
  /** How far the agent tells it, for the table. */
  readonly note?: string;
}

/** A text instead says why an agent cannot tell it. */
type Row = Readonly<Record<EventAgent, Played | string>>;

export interface ConformanceCase {
  /** What ralph knows of the agent: a row of the table. */
  readonly title: string;
  readonly expected: Expected;
  readonly agents: Row;
}

const PROMISE = 'All done.\n\n<promise>DONE</promise>';
const DENIAL = 'Two tests still fail.';
const NOT_SEEN = 'how it would word this is not known';

/** The same recording name for all, but for what is given. */
function row(file: string, end: Played['end'], others: Partial<Row> = {}): Row {
  const played: Played = { file, end: end ?? 0 };
  const all = Object.fromEntries(EVENT_AGENTS.map((agent) => [agent, played]));
  // Every agent has an entry: the list above is complete.
  return { ...(all as Row), ...others };
}

export const CONFORMANCE: readonly ConformanceCase[] = [
  {
    title: 'the final message, and its session',
    expected: { outcome: 'answered', message: PROMISE, hasSession: true },
    agents: row('promise', 0, {
      claude: { file: 'tool-then-promise', message: 'All good.\n\n<promise>DONE</promise>' },
    }),
  },
  {
    title: 'a promise before a tool is not final',
    expected: { outcome: 'answered', message: DENIAL },
    agents: row('early-promise-then-denial', 0, {
      claude: { file: 'claude/early-promise-then-denial' },
    }),
  },
  {
    title: 'silence after a promise and a tool is no message',
    expected: { message: null },
    agents: row('early-promise-then-silence', 0, {
      claude: { file: 'claude/early-promise-then-silence', message: '' },
      qwen: { file: 'early-promise-then-silence', message: '' },
    }),
  },
  {
    title: 'a refused tool',
    expected: { outcome: 'answered', message: PROMISE },
    agents: row('refused-then-promise', 0, {
      claude: {
        file: 'refused-tools-then-promise',
        refused: ['Bash', 'Write'],
        message: 'All good.\n\n<promise>DONE</promise>',
      },
      codex: {
        file: 'refused-then-promise',
        refused: ['command_execution'],
        note: 'a call that asked for more rights, nothing else',
        message: `First I look.\n\n${PROMISE}`,
      },
      gemini: { file: 'refused-then-promise', refused: ['write_file'] },
      opencode: { file: 'refused-then-promise', refused: ['bash'] },
      qwen: { file: 'refused-then-promise', refused: ['run_shell_command'] },
      copilot: { file: 'refused-then-promise', refused: ['bash'] },
    }),
  },
  {
    title: 'tokens',
    expected: { tokens: [200, 40] },
    agents: row('promise', 0, {
      claude: { file: 'tool-then-promise', tokens: [2000, 100] },
      opencode: { file: 'promise', tokens: [200, 40] },
      copilot: 'its events name no tokens',
    }),
  },
  {
    title: 'cost in dollars',
    expected: {},
    agents: {
      claude: { file: 'tool-then-promise', costUsd: 0.01 },
      codex: 'it knows no prices',
      gemini: 'it knows no prices',
      opencode: { file: 'promise', costUsd: 0.0002 },
      qwen: 'it knows no prices',
      copilot: 'its events name no cost',
    },
  },
  {
    title: 'a bad key',
    expected: { outcome: 'fatal:not-logged-in' },
    agents: row('unauthorized-401', 1, {
      codex: { file: 'unauthorized-401', end: 'hopeless' },
      gemini: { file: 'unauthorized-401', end: 145 },
      copilot: { file: 'unauthorized-401', end: 'hopeless' },
    }),
  },
  {
    title: 'an unknown model',
    expected: { outcome: 'fatal:refused-request' },
    agents: row('unknown-model-404', 1),
  },
  {
    title: 'a prompt that is too long',
    expected: { outcome: 'fatal:refused-request, too long' },
    agents: row('prompt-too-long', 1, {
      claude: { file: 'prompt-too-long-400', end: 1 },
      gemini: { file: 'prompt-too-long', end: 144 },
    }),
  },
  {
    title: 'no credit',
    expected: { outcome: 'fatal:no-credit' },
    agents: {
      claude: { file: 'no-credit-400', end: 1 },
      codex: { file: 'no-credit', end: 1 },
      gemini: NOT_SEEN,
      opencode: 'it retries this as a busy service',
      qwen: NOT_SEEN,
      copilot: NOT_SEEN,
    },
  },
  {
    title: 'a plan limit, and its reset',
    expected: {},
    agents: {
      claude: {
        file: 'session-limit-429',
        end: 1,
        outcome: 'usage-limited until 2100-01-01T13:00:00.000Z',
      },
      codex: {
        file: 'plan-limit',
        end: 1,
        outcome: 'usage-limited until 2026-01-05T12:55:00.000Z',
      },
      gemini: { file: 'plan-limit', end: 173, outcome: 'usage-limited', note: 'without its reset' },
      opencode: 'it retries this as a busy service',
      qwen: NOT_SEEN,
      copilot: NOT_SEEN,
    },
  },
  {
    title: 'a rate limit',
    expected: { outcome: 'transient' },
    agents: row('rate-limited-429', 1, {
      gemini: { file: 'rate-limited-429', end: 173 },
      copilot: { file: 'rate-limited-429', end: 'cut' },
    }),
  },
  {
    title: 'a failing service',
    expected: { outcome: 'transient' },
    agents: row('server-error-500', 1, { gemini: { file: 'server-error-500', end: 247 } }),
  },
  {
    title: 'its own retries, where the iteration limit cuts them',
    expected: { outcome: 'transient' },
    agents: row('cut-in-retries', 'cut', {
      claude: { file: 'interrupted-in-retries', end: 'cut' },
      opencode: 'it tells nothing of its retries, so it counts as timed out',
      qwen: 'it tells nothing while a service fails (100 s), so it counts as timed out',
    }),
  },
  {
    title: 'an answer that is cut off again and again',
    expected: { outcome: 'transient' },
    agents: {
      claude: { file: 'connection-cut', end: 1 },
      codex: { file: 'answer-cut-off', end: 1 },
      gemini: { file: 'answer-cut-off', end: 0 },
      opencode: { file: 'answer-cut-off', end: 'hopeless' },
      qwen: { file: 'answer-cut-off', end: 1 },
      copilot: NOT_SEEN,
    },
  },
  {
    title: 'a session that is gone',
    expected: { outcome: 'session-gone' },
    agents: row('session-gone', 1, {
      claude: { file: 'claude/session-gone', end: 1 },
      gemini: { file: 'session-gone', end: 42 },
    }),
  },
  {
    title: 'an unknown option',
    expected: { outcome: 'fatal:bad-option' },
    agents: row('unknown-flag', 1, {
      claude: { file: 'claude/unknown-flag', end: 1 },
      codex: { file: 'unknown-flag', end: 2 },
    }),
  },
  {
    title: 'what it had said when it was cut in a tool',
    expected: { outcome: 'timed-out', partial: 'First I look.' },
    agents: row('killed-in-tool', 'cut', {
      claude: { file: 'interrupted-in-tool', end: 'cut', partial: '[tool] Bash' },
      opencode: { file: 'killed-in-tool', end: 'cut', partial: 'I run the tests.' },
      qwen: { file: 'killed-in-tool', end: 'cut', partial: 'I run the tests.' },
    }),
  },
];

/** Returns the table of docs/agents.md: what ralph knows of each agent. */
export function conformanceTable(): readonly (readonly string[])[] {
  return CONFORMANCE.map(({ title, agents }) => [
    title,
    ...EVENT_AGENTS.map((agent) => {
      const played = agents[agent];
      if (typeof played === 'string') return `no: ${played}`;
      return played.note === undefined ? 'yes' : `yes: ${played.note}`;
    }),
  ]);
}
