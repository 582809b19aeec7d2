import { describe, expect, test } from 'vitest';
import { AGENTS, type AgentName } from '../../../src/core/agent/agents/agents.ts';
import type { AttemptFacts, CutCause } from '../../../src/core/agent/attempt.ts';
import { classify } from '../../../src/core/agent/classify.ts';
import type { Outcome } from '../../../src/core/agent/outcome.ts';
import {
  answered,
  attemptFacts,
  cut,
  errorReport,
  notFound,
  resultFacts,
  retryFacts,
  withoutReport,
} from '../../helpers/attempt-facts.ts';

const USAGE =
  "error: unexpected argument '--full-auto' found\n\nUsage: codex exec [OPTIONS] [PROMPT]\n\nFor more information, try '--help'.\n";

/** Of an attempt that ended at this instant on a machine in UTC. */
function classified(facts: AttemptFacts, agent: AgentName = 'claude'): Outcome {
  return classify(facts, AGENTS[agent], '2026-01-05T12:00:00.000Z', { timeZone: 'UTC' });
}

/** The outcome in a word or two: `answered`, `bounded:max-turns`, `transient:429`, `fatal:no-credit`. */
function outcome(facts: AttemptFacts, agent: AgentName = 'claude'): string {
  const named = classified(facts, agent);
  switch (named.kind) {
    case 'bounded':
      return `bounded:${named.by}`;
    case 'timed-out':
      return `timed-out:${named.limit}`;
    case 'transient':
      return `transient:${named.status ?? 'none'}`;
    case 'usage-limited':
      return 'usage-limited';
    case 'fatal':
      return `fatal:${named.cause}`;
    default:
      return named.kind;
  }
}

const LIMIT_429 =
  "API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later.";
const REPEATED_529 =
  'API Error: Repeated 529 Overloaded errors. The API is at capacity — this is usually temporary.';
const NOT_LOGGED_IN = 'Not logged in · Please run /login';
const SESSION_LIMIT = "You've hit your session limit · resets 3pm (Europe/London)";

describe('a failure that claude reports', () => {
  test.for<[name: string, text: string, status: number | null, expected: string]>([
    ['not logged in', NOT_LOGGED_IN, null, 'fatal:not-logged-in'],
    ['a bad API key', 'Invalid API key · Fix external API key', 401, 'fatal:not-logged-in'],
    ['a bad API key, no status', 'Invalid API key · Fix it', null, 'fatal:not-logged-in'],
    [
      'an organisation that is not allowed',
      'Failed to authenticate. API Error: 403 Your account is not allowed.',
      403,
      'fatal:not-logged-in',
    ],
    [
      'an unknown model',
      "There's an issue with the selected model (no-such-model).",
      404,
      'fatal:refused-request',
    ],
    ['a bad request', 'API Error: 400 messages: text is empty', 400, 'fatal:refused-request'],
    ['a prompt too long', 'Prompt is too long', 400, 'fatal:refused-request'],
    ['a prompt too long, no status', 'Prompt is too long', null, 'fatal:refused-request'],
    ['a request too large', 'Request too large (max 32MB).', 413, 'fatal:refused-request'],
    ['no credit', 'Credit balance is too low', 400, 'fatal:no-credit'],
    ['no credit, no status', 'Credit balance is too low', null, 'fatal:no-credit'],
    ['a payment is required', 'API Error: 402 Insufficient Balance', 402, 'fatal:no-credit'],
    ['a rate limit', LIMIT_429, 429, 'transient:429'],
    ['a server error', 'API Error: 500 Internal server error.', 500, 'transient:500'],
    ['a bad gateway', 'API Error: 502 Bad gateway', 502, 'transient:502'],
    ['a service that is not there', 'API Error: 503 Service Unavailable', 503, 'transient:503'],
    ['an overload', 'API Error: 529 Overloaded.', 529, 'transient:529'],
    ['repeated overloads, no status', REPEATED_529, null, 'transient:529'],
    ['a server error, no status', 'API Error: 500 Internal error', null, 'transient:500'],
    ['a plan limit', SESSION_LIMIT, 429, 'usage-limited'],
    ['a plan limit, no status', SESSION_LIMIT, null, 'usage-limited'],
    ['a plan limit of old', 'Claude AI usage limit reached|1736899200', null, 'usage-limited'],
    ['a teapot', 'API Error: 418 I am a teapot', 418, 'errored'],
    ['anything else', 'Something broke', null, 'errored'],
    ['nothing in words', '', null, 'errored'],
  ])('%s', ([, text, status, expected]) => {
    expect(outcome(errorReport(text, status))).toBe(expected);
  });

  test.for([
    ['API Error: Connection error.'],
    ['API Error (Connection error.)'],
    ['API Error: Unable to connect to API (ECONNRESET)'],
    ['API Error: Unable to connect to API (ConnectionRefused)'],
    ['API Error: getaddrinfo ENOTFOUND api.anthropic.com'],
    ['API Error: getaddrinfo EAI_AGAIN api.anthropic.com'],
    ['API Error: connect ETIMEDOUT 203.0.113.1:443'],
    ['API Error: connect ECONNREFUSED 127.0.0.1:8080'],
    ['API Error: Request timed out.'],
    ['API Error: TypeError: fetch failed'],
    ['API Error: socket hang up'],
    [
      'API Error: The socket connection was closed unexpectedly. For more information, pass `verbose: true` in the second argument to fetch()',
    ],
    ['API Error: Connection closed mid-response. The response above may be incomplete.'],
  ] as const)('is transient if the network failed: %s', ([text]) => {
    expect(outcome(errorReport(text))).toBe('transient:none');
  });

  test.for<[what: string, facts: AttemptFacts, expected: string]>([
    [
      'is an error also where its subtype is success and its exit code 0',
      errorReport(NOT_LOGGED_IN, null, { end: { kind: 'exited', exitCode: 0 } }),
      'fatal:not-logged-in',
    ],
    [
      'is an error also where its words state the promise',
      errorReport('<promise>DONE</promise>', null),
      'errored',
    ],
    [
      'is an error also under another subtype',
      errorReport('', 500, {
        result: resultFacts({
          subtype: 'error_during_execution',
          isError: true,
          apiErrorStatus: 500,
          text: null,
        }),
      }),
      'transient:500',
    ],
    [
      'speaks in its list of errors where it has no text',
      errorReport('', null, {
        result: resultFacts({
          subtype: 'error_during_execution',
          isError: true,
          text: null,
          errors: [REPEATED_529],
        }),
      }),
      'transient:529',
    ],
    [
      'too long for the model is named by its terminal reason',
      errorReport('', null, {
        result: resultFacts({ isError: true, text: 'no', terminalReason: 'prompt_too_long' }),
      }),
      'fatal:refused-request',
    ],
    [
      'is no failure of the API where its terminal reason alone says so',
      errorReport('no', null, {
        result: resultFacts({ isError: true, text: 'no', terminalReason: 'image_error' }),
      }),
      'errored',
    ],
  ])('%s', ([, facts, expected]) => {
    expect(outcome(facts)).toBe(expected);
  });

  test.for<[status: number, text: string, expected: string]>([
    [401, REPEATED_529, 'fatal:not-logged-in'],
    [404, 'API Error: Connection error.', 'fatal:refused-request'],
  ])('the status %i outweighs the words "%s"', ([status, text, expected]) => {
    expect(outcome(errorReport(text, status))).toBe(expected);
  });

  test.for<[status: number, text: string, expected: string]>([
    [500, NOT_LOGGED_IN, 'fatal:not-logged-in'],
    [429, NOT_LOGGED_IN, 'fatal:not-logged-in'],
    [529, SESSION_LIMIT, 'usage-limited'],
    [401, SESSION_LIMIT, 'usage-limited'],
  ])('what all services say outweighs the status %i: "%s"', ([status, text, expected]) => {
    expect(outcome(errorReport(text, status))).toBe(expected);
  });

  test.for([
    ['error_max_structured_output_retries', true],
    ['error_during_execution', true],
    ['error_of_next_year', true],
    ['error_of_next_year', false],
    ['', false],
  ] as const)(
    'an unknown subtype "%s" with is_error %s is a failed iteration',
    ([subtype, isError]) => {
      const result = resultFacts({ subtype, isError, text: null });
      const named = classified(attemptFacts({ result, turns: 1 }));
      expect(named).toEqual({ kind: 'errored', message: `the agent reported ${subtype}` });
    },
  );

  test('its message is one line of at most 300 characters', () => {
    const named = classified(errorReport(`It broke\n\n  ${'x'.repeat(1_000)}`));
    expect(named.kind === 'errored' && named.message).toMatch(/^It broke x{290}…$/);
  });
});

describe('a plan limit', () => {
  const resetsAt = '2026-01-05T15:00:00.000Z';
  const rejected = { status: 'rejected', resetsAt, type: 'five_hour', utilization: 1 };
  const allowed = { status: 'allowed', resetsAt, type: 'five_hour', utilization: 0.2 };

  test('takes its reset from the event that came with it', () => {
    expect(classified(errorReport(SESSION_LIMIT, 429, { rateLimit: rejected }))).toEqual({
      kind: 'usage-limited',
      resetsAt,
      message: SESSION_LIMIT,
    });
  });

  test('is recognised by the event alone, whatever the words', () => {
    expect(outcome(errorReport('A wording of next year', 429, { rateLimit: rejected }))).toBe(
      'usage-limited',
    );
  });

  test.for([
    ['a rate limit', LIMIT_429],
    ['a busy server', 'Server is temporarily limiting requests (not your usage limit)'],
    [
      'a busy server, with the prefix',
      'API Error: Server is temporarily limiting requests (not your usage limit)',
    ],
    ['any other 429', 'API Error: 429 slow down'],
  ] as const)('is not %s, even if the event allows the account to work', ([, text]) => {
    expect(outcome(errorReport(text, 429))).toBe('transient:429');
    // `overageStatus: "rejected"` beside it never becomes a status of its own.
    expect(outcome(errorReport(text, 429, { rateLimit: allowed }))).toBe('transient:429');
  });

  test.for([[allowed], [{ ...allowed, status: 'allowed_warning' }], [rejected]] as const)(
    'is not read from an event %o before a good answer',
    ([rateLimit]) => {
      expect(outcome(answered('All is well.', { rateLimit }))).toBe('answered');
    },
  );

  test.for([
    [500, 'transient:500'],
    [401, 'fatal:not-logged-in'],
    [400, 'fatal:refused-request'],
  ] as const)('is not read from an event before an error of status %i', ([status, expected]) => {
    expect(outcome(errorReport('it broke', status, { rateLimit: rejected }))).toBe(expected);
  });
});

/** Words that are a cause in an error report, and none in an answer. */
const ALARMING = [
  NOT_LOGGED_IN,
  'Invalid API key · Fix external API key',
  'Credit balance is too low',
  'Prompt is too long',
  LIMIT_429,
  REPEATED_529,
  SESSION_LIMIT,
  'Claude AI usage limit reached|1736899200',
  'API Error: Connection error.',
  'TypeError at src/app.ts:429:12',
  'max character limit reached',
  "error: unknown option '--bogus'",
  '--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons',
  'Unknown command: /fix',
];

describe('free text that only mentions a cause', () => {
  test.for(ALARMING)('is no cause in an answer: %s', (text) => {
    expect(outcome(answered(text))).toBe('answered');
  });

  test.for(ALARMING)('is no cause on standard error: %s', (text) => {
    expect(outcome(answered('All is well.', { stderrTail: `${text}\n` }))).toBe('answered');
  });

  test.for(ALARMING)('is no cause in what a command says: %s', (text) => {
    const command = { finalMessage: text, stderrTail: `${text}\n` };
    expect(outcome(attemptFacts(command), 'command')).toBe('answered');
    // The words of a plan limit are a cause where it failed: it has no events.
    const isLimit = /^(You've hit your session limit|Claude AI usage limit)/.test(text);
    const expected = isLimit ? 'usage-limited' : 'errored';
    expect(outcome(withoutReport(1, `${text}\n`, command), 'command')).toBe(expected);
    // Once a session has begun, what stands there may be of any program.
    const running = { finalMessage: text, sessionId: 'session-1' };
    expect(outcome(withoutReport(1, `${text}\n`, running))).toBe('errored');
  });

  test.for([
    ['The API said: Not logged in'],
    ['I wrote a test for "Credit balance is too low"'],
    ['The page says API Error: 500'],
    ['Please handle: Prompt is too long'],
    ['TypeError at src/app.ts:429:12'],
    ['max character limit reached'],
    ['The log says: usage limit reached'],
  ] as const)('is no cause in the middle of an error report: %s', ([text]) => {
    expect(outcome(errorReport(text))).toBe('errored');
  });
});

describe('the limits of the agent itself', () => {
  test.for([
    ['error_max_turns', 'bounded:max-turns'],
    ['error_max_budget_usd', 'bounded:max-budget'],
  ] as const)('%s', ([subtype, expected]) => {
    for (const isError of [true, false]) {
      const result = resultFacts({ subtype, isError, text: null, errors: ['Reached maximum'] });
      const end = { kind: 'exited', exitCode: 1 } as const;
      expect(outcome(attemptFacts({ end, result }))).toBe(expected);
    }
  });
});

test('an answer of claude that broke off in the turn of its model is none', () => {
  const result = resultFacts({ text: 'All good: DONE', isBrokenOff: true });
  expect(classified(answered('All good: DONE', { result }))).toEqual({
    kind: 'errored',
    message: 'claude ended before its model had finished the answer',
  });
  // Without a text, there is nothing that could be taken for an answer.
  const silent = resultFacts({ text: '', isBrokenOff: true });
  expect(outcome(answered('', { result: silent }))).toBe('answered');
});

describe('a prompt that claude takes for a slash command', () => {
  const local = attemptFacts({
    result: resultFacts({ numTurns: 0, text: 'Unknown command: /fix' }),
  });

  test('is recognised by a report without turns and cost', () => {
    expect(classified(local)).toEqual({
      kind: 'fatal',
      cause: 'slash-command',
      message: 'Unknown command: /fix',
    });
  });

  test.for<[what: string, facts: AttemptFacts]>([
    ['it cost something', { ...local, usage: { ...local.usage, cost_usd: 0.01 } }],
    ['the model spoke', { ...local, turns: 1 }],
    ['it counted a turn', { ...local, result: resultFacts({ numTurns: 1 }) }],
    ['nobody counted turns', { ...local, result: resultFacts({ numTurns: null }) }],
  ])('is not assumed if %s', ([, facts]) => {
    expect(outcome(facts)).toBe('answered');
  });
});

describe('the agent’s own retries', () => {
  const retries = [retryFacts(500), retryFacts(529)];

  test.for<[what: string, facts: AttemptFacts, expected: string]>([
    ['over, then an answer', answered('Fine.', { retries }), 'answered'],
    ['over, then no report', withoutReport(1, 'it crashed', { retries }), 'errored'],
    [
      'the last thing before an end without a report',
      withoutReport(1, '', { retries, endedInRetry: true }),
      'transient:529',
    ],
    [
      'the last thing before an end with code 0 and no report',
      withoutReport(0, '', { retries, endedInRetry: true }),
      'transient:529',
    ],
    [
      'the last thing before a signal',
      attemptFacts({
        end: { kind: 'signalled', signal: 'SIGKILL' },
        retries,
        endedInRetry: true,
      }),
      'transient:529',
    ],
    [
      'the last thing before a report without a status',
      errorReport('[ede_diagnostic] result_type=user', null, { retries, endedInRetry: true }),
      'transient:529',
    ],
    [
      'with no status either',
      withoutReport(1, '', { retries: [retryFacts(null)], endedInRetry: true }),
      'transient:none',
    ],
    [
      'over, then an API error without a status',
      errorReport('API Error: the stream ended early', null, { retries }),
      'transient:529',
    ],
    [
      'over, then an error that is not one of the API',
      errorReport('a hook went wrong', null, { retries }),
      'errored',
    ],
    [
      'none, then an API error without a status',
      errorReport('API Error: the answer made no sense', null),
      'errored',
    ],
    [
      'the last thing before a refusal',
      errorReport('Invalid API key · Fix external API key', 401, {
        retries: [retryFacts(401)],
        endedInRetry: true,
      }),
      'fatal:not-logged-in',
    ],
    [
      'the last thing before a plan limit',
      errorReport(SESSION_LIMIT, 429, { retries: [retryFacts(429)], endedInRetry: true }),
      'usage-limited',
    ],
    [
      'the last thing of an iteration that ran out of time',
      cut('iteration-timeout', { retries, endedInRetry: true }),
      'transient:529',
    ],
    [
      'the last thing of an agent that was silent for too long',
      cut('idle-timeout', { retries, endedInRetry: true }),
      'transient:529',
    ],
    [
      'the last thing when the time of the whole task was over',
      cut('task-timeout', { retries, endedInRetry: true }),
      'timed-out:task',
    ],
    [
      'the last thing when it was to stop',
      cut('stop-requested', { retries, endedInRetry: true }),
      'stopped',
    ],
    [
      'hopeless',
      cut('hopeless-retries', {
        retries: [retryFacts(401), retryFacts(401)],
        endedInRetry: true,
      }),
      'fatal:not-logged-in',
    ],
  ])('%s', ([, facts, expected]) => {
    expect(outcome(facts)).toBe(expected);
  });

  test('are named in the message', () => {
    const facts = cut('hopeless-retries', { retries: [retryFacts(401, 'authentication_failed')] });
    expect(classified(facts)).toMatchObject({
      message: "the agent's own retries ended with 401 authentication_failed",
    });
  });
});

describe('the cause for which ralph ended the agent', () => {
  const causes: readonly [CutCause, string][] = [
    ['iteration-timeout', 'timed-out:iteration'],
    ['idle-timeout', 'timed-out:idle'],
    ['task-timeout', 'timed-out:task'],
    ['stop-requested', 'stopped'],
    ['hopeless-retries', 'fatal:not-logged-in'],
  ];
  const reports: readonly [string, Partial<AttemptFacts>][] = [
    ['nothing', {}],
    ['an answer', answered('<promise>DONE</promise>')],
    ['a plan limit', errorReport(SESSION_LIMIT, 429)],
    ['a server error', errorReport('API Error: 500', 500)],
    ['no login', errorReport(NOT_LOGGED_IN)],
    ['its own bound', { result: resultFacts({ subtype: 'error_max_turns', isError: true }) }],
    [
      'its interruption',
      { result: resultFacts({ subtype: 'error_during_execution', isError: true, text: null }) },
    ],
    ['a slash command', { result: resultFacts({ numTurns: 0 }), turns: 0 }],
    ['an unknown option', { stderrTail: "error: unknown option '--bogus'\n" }],
  ];
  const rows = causes.flatMap(([cause, expected]) =>
    reports.map(([report, facts]): [CutCause, string, Partial<AttemptFacts>, string] => [
      cause,
      report,
      facts,
      expected,
    ]),
  );

  test.for(rows)('%s wins over a report of %s', ([cause, , facts, expected]) => {
    for (const exitCode of [0, 1, 143, null]) {
      expect(outcome({ ...cut(cause, facts), end: { kind: 'cut', cause, exitCode } })).toBe(
        expected,
      );
    }
  });

  test('is the same for a command', () => {
    const command = cut('iteration-timeout', { finalMessage: 'DONE' });
    expect(outcome(command, 'command')).toBe('timed-out:iteration');
  });
});

describe('an agent that could not be started', () => {
  test.for([
    ['ENOENT', 'fatal:agent-not-found'],
    ['EACCES', 'errored'],
    ['EAGAIN', 'errored'],
    ['ENOMEM', 'errored'],
    ['E2BIG', 'errored'],
  ] as const)('%s', ([code, expected]) => {
    expect(outcome(notFound(code))).toBe(expected);
    expect(outcome(notFound(code), 'command')).toBe(expected);
  });
});

describe('an end without a report', () => {
  test.for<[what: string, facts: AttemptFacts, expected: string]>([
    ['code 0', withoutReport(0), 'errored'],
    ['code 1', withoutReport(1), 'errored'],
    ['code 143', withoutReport(143), 'errored'],
    ['a signal', attemptFacts({ end: { kind: 'signalled', signal: 'SIGKILL' } }), 'errored'],
    [
      'an unknown option',
      withoutReport(1, "error: unknown option '--bogus'\n"),
      'fatal:bad-option',
    ],
    [
      'an unknown option behind a warning',
      withoutReport(1, "Warning: no proxy\nerror: unknown option '--bogus'\nSee --help\n"),
      'fatal:bad-option',
    ],
    [
      'a bad value of an option',
      withoutReport(1, "error: option '--permission-mode <mode>' argument 'x' is invalid.\n"),
      'fatal:bad-option',
    ],
    [
      'skip-permissions refused as root',
      withoutReport(
        1,
        '--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons\n',
      ),
      'fatal:root-refused',
    ],
    ['no login', withoutReport(1, `${NOT_LOGGED_IN}\n`), 'fatal:not-logged-in'],
    [
      'no prompt',
      withoutReport(1, 'Error: Input must be provided either through stdin\n'),
      'errored',
    ],
    [
      'a lost session',
      withoutReport(1, 'No conversation found with session ID: x\n'),
      'session-gone',
    ],
    [
      'words about an option inside a line',
      withoutReport(1, "npm warn: error: unknown option '--bogus'\n"),
      'errored',
    ],
    ['a shim that finds no agent', withoutReport(127, 'env: claude: not found\n'), 'errored'],
    ['a shim that may not run it', withoutReport(126, 'sh: claude: denied\n'), 'errored'],
    ['code 127 once it was at work', withoutReport(127, '', { sessionId: 'session-1' }), 'errored'],
    [
      "a tool's unknown option, once the agent was at work",
      withoutReport(1, "error: unknown option '--bogus'\n", {
        turns: 3,
        tools: 2,
        sessionId: 'session-1',
      }),
      'errored',
    ],
  ])('%s', ([, facts, expected]) => {
    expect(outcome(facts)).toBe(expected);
  });

  test.for([
    [withoutReport(0), 'the agent exited with code 0 but gave no result'],
    [withoutReport(3, 'first\nlast words\n\n'), 'the agent exited with code 3: first | last words'],
    [withoutReport(3), 'the agent exited with code 3'],
    [
      attemptFacts({ end: { kind: 'signalled', signal: 'SIGSEGV' } }),
      'the agent was ended by SIGSEGV, which ralph did not send',
    ],
  ] as const)('says how: %#', ([facts, message]) => {
    expect(classified(facts)).toEqual({ kind: 'errored', message });
  });
});

describe('an end after a good report', () => {
  test.for<[what: string, facts: AttemptFacts, expected: string]>([
    ['code 0', answered('Fine.'), 'answered'],
    ['code 1', answered('Fine.', { end: { kind: 'exited', exitCode: 1 } }), 'errored'],
    [
      'a signal of somebody else',
      answered('Fine.', { end: { kind: 'signalled', signal: 'SIGTERM' } }),
      'errored',
    ],
    ['no words at all', answered(''), 'answered'],
  ])('%s', ([, facts, expected]) => {
    expect(outcome(facts)).toBe(expected);
  });
});

describe('a command, which gives no report', () => {
  const command = (end: AttemptFacts['end'], stderrTail = ''): AttemptFacts =>
    attemptFacts({ end, stderrTail, finalMessage: 'words' });

  test.for<[what: string, facts: AttemptFacts, expected: string]>([
    ['code 0', command({ kind: 'exited', exitCode: 0 }), 'answered'],
    ['code 2', command({ kind: 'exited', exitCode: 2 }), 'errored'],
    [
      'code 2 and a usage text',
      { ...command({ kind: 'exited', exitCode: 2 }, USAGE), finalMessage: null },
      'fatal:bad-option',
    ],
    [
      'code 2 and the usage of another program, after a first word',
      command({ kind: 'exited', exitCode: 2 }, USAGE),
      'errored',
    ],
    ['code 1 and a usage text', command({ kind: 'exited', exitCode: 1 }, USAGE), 'errored'],
    [
      'code 2 and words about usage',
      command({ kind: 'exited', exitCode: 2 }, 'disk usage: 100 %\n'),
      'errored',
    ],
    ['code 127', command({ kind: 'exited', exitCode: 127 }, 'sh: npx: not found\n'), 'errored'],
    ['a signal', command({ kind: 'signalled', signal: 'SIGKILL' }), 'errored'],
    [
      'code 1 and an unknown option',
      command({ kind: 'exited', exitCode: 1 }, "error: unknown option '--bogus'\n"),
      'errored',
    ],
    [
      'code 1 and no login',
      command({ kind: 'exited', exitCode: 1 }, `${NOT_LOGGED_IN}\n`),
      'errored',
    ],
    [
      'code 1 and a plan limit',
      command({ kind: 'exited', exitCode: 1 }, "ERROR: You've hit your usage limit.\n"),
      'usage-limited',
    ],
    [
      'code 0 and a plan limit',
      command({ kind: 'exited', exitCode: 0 }, "ERROR: You've hit your usage limit.\n"),
      'answered',
    ],
    [
      'a signal and a plan limit',
      command({ kind: 'signalled', signal: 'SIGKILL' }, "ERROR: You've hit your usage limit.\n"),
      'errored',
    ],
    [
      'a time limit and a plan limit',
      command(
        { kind: 'cut', cause: 'iteration-timeout', exitCode: 1 },
        "ERROR: You've hit your usage limit.\n",
      ),
      'timed-out:iteration',
    ],
  ])('%s', ([, facts, expected]) => {
    expect(outcome(facts, 'command')).toBe(expected);
  });

  test('names the option that is wrong, and not the hint at --help behind it', () => {
    const usage = command({ kind: 'exited', exitCode: 2 }, USAGE);
    const facts = { ...usage, finalMessage: null };
    expect(classified(facts, 'command')).toMatchObject({
      message: "error: unexpected argument '--full-auto' found",
    });
  });
});
