import { describe, expect, test } from 'vitest';
import type { AgentName } from '../../../src/core/agent/agents/agents.ts';
import { AGENTS } from '../../../src/core/agent/agents/agents.ts';
import type { AttemptFacts } from '../../../src/core/agent/attempt.ts';
import { classify } from '../../../src/core/agent/classify.ts';
import { answered, errorReport, resultFacts, withoutReport } from '../../helpers/attempt-facts.ts';

const AT = '2026-11-28T12:00:00.000Z';

function outcome(facts: AttemptFacts, agent: AgentName = 'claude') {
  return classify(facts, AGENTS[agent], AT, { timeZone: 'UTC' });
}

function meaning(facts: AttemptFacts, agent?: AgentName): string {
  const found = outcome(facts, agent);
  return found.kind === 'fatal' ? found.cause : found.kind;
}

/** An error report as a service or a program words it, with the status that it came with. */
const REPORTS: readonly (readonly [words: string, status: number | null, means: string])[] = [
  // It passes.
  [
    'Failed to refresh OAuth token: another Claude Code process is refreshing it or exited mid-refresh.',
    null,
    'transient',
  ],
  ['Token refresh was cut off. This is usually transient; retry in a minute.', 401, 'transient'],
  [
    'API Error: API returned an empty or malformed response (HTTP 200) — check for a proxy',
    null,
    'transient',
  ],
  // A plan limit.
  [
    'API Error: 400 You have reached your specified API usage limits. You will regain access on 2027-01-01 at 00:00 UTC.',
    400,
    'usage-limited',
  ],
  [
    '[API Error: You have exhausted your capacity on this model. Your quota will reset after 21h54m48s.]',
    null,
    'usage-limited',
  ],
  [
    'Weekly usage limit reached. Resets in 2 days. To continue now, enable usage from your balance',
    429,
    'usage-limited',
  ],
  [
    'API Error: 400 You have reached your specified workspace API usage limits. You will regain access on 2027-01-01 at 00:00 UTC.',
    400,
    'usage-limited',
  ],
  [
    "Sorry, you've exceeded your 5 hour session limits. Please retry after 2733 seconds. (user_global_rate_limited:pro)",
    429,
    'usage-limited',
  ],
  [
    "You have hit your subscription's 5 hour usage limit. It will reset at 2026-11-28T15:00:00Z",
    403,
    'usage-limited',
  ],
  ["You've hit your org's monthly spend limit · resets Dec 1 at 12am (UTC)", 403, 'usage-limited'],
  ['Error: The usage limit has been reached', null, 'usage-limited'],
  ['Your weekly limit was exceeded.', 400, 'usage-limited'],
  ["You're out of extra usage · resets 9pm", 429, 'usage-limited'],
  ['Error: Free usage exceeded, subscribe to Go', null, 'usage-limited'],
  [
    '[API Error: Qwen OAuth quota exceeded: Your free daily quota has been reached.]',
    null,
    'usage-limited',
  ],
  ['[API Error: 429 Free allocated quota exceeded.]', 429, 'usage-limited'],
  // No credit.
  [
    'Unauthorized: {"type":"error","error":{"type":"CreditsError","message":"Insufficient balance. Manage it here"}}',
    401,
    'no-credit',
  ],
  ['API Error: 400 Not enough credits for this request', 400, 'no-credit'],
  ['Execution failed: 402 You have no quota (Request ID: 0DAE:25E8)', null, 'no-credit'],
  ['Your credit balance is too low to access the API.', 400, 'no-credit'],
  ['Error: Your account has run out of credits.', 500, 'no-credit'],
  ['Your workspace is out of credits. Ask your workspace owner to refill.', null, 'no-credit'],
  // A person has to change the request or the account.
  [
    'API Error: Request rejected (429) · Extra usage is required for long context requests.',
    429,
    'refused-request',
  ],
  [
    'Usage credits required for 1M context · turn on usage credits at claude.ai/settings/usage, or use --model',
    429,
    'refused-request',
  ],
  [
    'Your ANTHROPIC_API_KEY belongs to a disabled organization · Update the variable',
    403,
    'refused-request',
  ],
  ['API Error: 400 This organization has been disabled.', 400, 'refused-request'],
  // A login.
  [
    'Failed to authenticate: OAuth session expired and could not be refreshed',
    null,
    'not-logged-in',
  ],
  ['OAuth token has expired. Please obtain a new token.', 500, 'not-logged-in'],
  ['Error: Your session has expired', null, 'not-logged-in'],
  ['API key expired. Please renew it.', 400, 'not-logged-in'],
  [
    'Your access token could not be refreshed because you have since signed in elsewhere.',
    null,
    'not-logged-in',
  ],
  ['Failed to refresh token: connection reset', null, 'not-logged-in'],
  [
    'Your refresh token has already been used to generate a new access token.',
    null,
    'not-logged-in',
  ],
  ['The login is gone. Please log out and sign in again.', null, 'not-logged-in'],
  ['You are not logged in', null, 'not-logged-in'],
  ['API Error: 401 {"type":"error"} · Please run /login', null, 'not-logged-in'],
  ['Invalid API key · Fix external API key', 400, 'not-logged-in'],
  // A certificate that the program does not trust is no outage.
  ['API Error: Unable to connect to API: Self-signed certificate detected', null, 'errored'],
  ['Unable to connect: unable to get local issuer certificate', null, 'errored'],
  ['API Error: Connection error. certificate has expired', null, 'errored'],
  [
    'stream disconnected before completion: invalid peer certificate: UnknownIssuer',
    null,
    'errored',
  ],
  ['API Error: fetch failed (UNABLE_TO_VERIFY_LEAF_SIGNATURE)', null, 'errored'],
];

const QUOTED = REPORTS.filter(([, , means]) => means !== 'errored').map(([words]) => words);

describe('what the services say of an account', () => {
  test.for(REPORTS)(
    'counts in an error report, with any status: %s (%s)',
    ([words, status, means]) => {
      expect(meaning(errorReport(words, status))).toBe(means);
    },
  );

  test.for(REPORTS)(
    'counts on standard error of an agent without a session: %s',
    ([words, , means]) => {
      expect(meaning(withoutReport(1, `starting\n${words}\n`))).toBe(means);
    },
  );

  test.for(QUOTED)('changes nothing in an answer, nor beside a session that runs: %s', (words) => {
    const quote = `The README now explains "${words}" and what to do.`;
    expect(meaning(answered(quote))).toBe('answered');
    expect(meaning(answered('Done.', { stderrTail: `${words}\n` }))).toBe('answered');
    const running = { sessionId: 'session-1', partialOutput: words };
    expect(meaning(withoutReport(1, `${words}\n`, running))).toBe('errored');
    expect(meaning(answered(quote), 'command')).toBe('answered');
  });

  test.for([
    'I wrote a test for "Credit balance is too low"',
    'The page says: you have no credits',
    'She wrote: Please run /login',
    'Usage limit reached banner: the build is red',
    'npm error: cannot find module please-run-login',
    'You have exceeded your disk quota.',
    'You have reached the context limit.',
    'The refresh token test failed',
    // Others have accounts, too.
    'UnknownError: MCP error -32001: Your session has expired',
    'MCP tool failed: daily quota exceeded',
    'Failed to reconnect to MCP server jira: HTTP 401 Unauthorized',
    'Session expired',
  ])('is no part of other words: %s', (words) => {
    expect(meaning(errorReport(words))).toBe('errored');
  });

  test.for<[AgentName, words: string, means: string]>([
    // The same words mean another thing to gemini, where a limit per minute passes.
    [
      'codex',
      'stream disconnected before completion: You exceeded your current quota, please check your plan and billing details.',
      'no-credit',
    ],
    [
      'gemini',
      '[API Error: {"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. Please retry in 26.1s."}}]',
      'transient',
    ],
  ])('is less than what one agent alone says: %s', ([agent, words, means]) => {
    expect(meaning(errorReport(words), agent)).toBe(means);
  });

  test('is what a command that has printed nothing else failed by; later, only a plan limit', () => {
    const login = 'Error: Please run /login\n';
    const limit = "You've hit your usage limit\n";
    const worked = { finalMessage: 'I look.', worked: true };
    const silent = { worked: false };
    expect(meaning(withoutReport(1, login, silent), 'command')).toBe('not-logged-in');
    expect(meaning(withoutReport(1, login, worked), 'command')).toBe('errored');
    expect(meaning(withoutReport(1, limit, worked), 'command')).toBe('usage-limited');
  });
});

describe('the code that claude puts beside its own words', () => {
  const told = (errorCode: string, status: number | null = null) => {
    const facts = errorReport('The account cannot be used here', status);
    return meaning({ ...facts, result: facts.result && { ...facts.result, errorCode } });
  };

  test.for([
    ['authentication_failed', 'not-logged-in'],
    ['oauth_org_not_allowed', 'not-logged-in'],
    ['billing_error', 'no-credit'],
    ['server_error', 'transient'],
    ['overloaded', 'transient'],
    ['rate_limit', 'transient'],
    ['model_not_found', 'refused-request'],
    ['something_new', 'errored'],
  ] as const)('%s means %s', ([code, means]) => {
    expect(told(code)).toBe(means);
  });

  test('outweighs the status, and what the services say outweighs it', () => {
    expect(told('billing_error', 401)).toBe('no-credit');
    const facts = errorReport('Please run /login', 500);
    const busy = {
      ...facts,
      result: facts.result && { ...facts.result, errorCode: 'server_error' },
    };
    expect(meaning(busy)).toBe('not-logged-in');
  });
});

test.for([
  ['API Error: 401 {"type":"error"}', 'not-logged-in'],
  ['unexpected status 503 Service Unavailable', 'transient'],
  ['the service answered (HTTP 413)', 'refused-request'],
  ['[API Error: {"error":{"code": 404}}]', 'refused-request'],
  ['It failed with HTTP/1.1 502', 'transient'],
  ['it took 401 tries', 'errored'],
  ['a page with HTTP 200', 'errored'],
] as const)('a status stands in the words: %s', ([words, means]) => {
  expect(meaning(errorReport(words), 'gemini')).toBe(means);
});

test.for([
  ['resets on 2027-01-01 at 00:00 UTC', '2027-01-01T00:00:00.000Z'],
  ['You will regain access on 2026-12-02 at 09:30 UTC.', '2026-12-02T09:30:00.000Z'],
  ['try again at 2026-12-02T09:30:00Z', '2026-12-02T09:30:00.000Z'],
  ['You will regain access on 2026-12-02.', '2026-12-02T00:00:00.000Z'],
] as const)('a reset with a date: %s', ([said, resetsAt]) => {
  const limit = errorReport(`You have reached your usage limit. ${said}`, 429);
  expect(outcome(limit)).toMatchObject({ kind: 'usage-limited', resetsAt });
});

test('a status in the words counts after work only where the service itself names it', () => {
  const worked = { worked: true };
  expect(
    meaning(errorReport('AxiosError: Request failed with status code 403', null, worked)),
  ).toBe('errored');
  expect(meaning(errorReport('API Error: 401 {}', null, worked))).toBe('not-logged-in');
  expect(meaning(errorReport('unexpected status 503', null, worked), 'codex')).toBe('transient');
});

describe('standard error before a session', () => {
  test.for<[AgentName, words: string, means: string]>([
    [
      'codex',
      'npm notice Access token expired or revoked. Please log in.\nnpm error code ENOSPC',
      'errored',
    ],
    [
      'gemini',
      "Error during discovery for MCP server 'x': OAuth token expired\nError resuming session: Invalid session identifier",
      'session-gone',
    ],
    [
      'gemini',
      'No input provided via stdin. Input can be provided by piping data into gemini or using the --prompt option.',
      'transient',
    ],
    ['claude', "warning: MCP server x: Not logged in\nerror: unknown option '--y'", 'bad-option'],
    ['claude', 'Not logged in\nTypeError: x is not a function\n    at y', 'errored'],
    ['claude', "/usr/bin/env: 'node': No such file or directory", 'errored'],
  ])('is about what ended %s: %j', ([agent, words, means]) => {
    expect(meaning(withoutReport(127, words), agent)).toBe(means);
  });
});

test('the model that refuses to go on is a refused request, also in a report of success', () => {
  const refusal = answered('I cannot go on with this.');
  const result = refusal.result && { ...refusal.result, isRefusal: true };
  expect(meaning({ ...refusal, result })).toBe('refused-request');
});

describe('a failure that passes, in words that no other list knows', () => {
  const PASSING: readonly (readonly [AgentName, words: string, means: string])[] = [
    ['claude', 'Unable to connect to API due to poor internet connection', 'transient'],
    ['claude', 'Server is temporarily limiting requests · Rate limited', 'transient'],
    ['claude', 'Spending cap reached resets 4pm', 'usage-limited'],
    ['claude', 'Team budget used up, resets Dec 1 at 12am (UTC)', 'usage-limited'],
    ['gemini', 'The model is overloaded. Please try again later.', 'transient'],
    ['gemini', 'Resource exhausted: please wait a moment', 'transient'],
    [
      'copilot',
      'Model call failed: {"message":"rate limit exceeded","code":"rate_limited"}',
      'transient',
    ],
    ['copilot', 'Failed to get response from the AI model; retried 5 times', 'transient'],
    ['copilot', "You have exhausted this model's rate limit. Retry in 20 minutes", 'usage-limited'],
    ['opencode', 'getaddrinfo EAI_AGAIN api.example.com', 'transient'],
    ['gemini', 'An internal error has occurred. Please retry.', 'transient'],
    // These stay as they are: waiting does not help, or it is about something else.
    ['copilot', 'Model call failed: CAPIError: 400 400 Bad Request', 'refused-request'],
    ['claude', 'MCP server jira: connection refused', 'errored'],
    ['claude', 'The cache resets 4pm', 'errored'],
    ['claude', 'Your version of Claude Code needs an update', 'errored'],
    ['claude', 'Your account is suspended. Please try again later.', 'errored'],
    ['claude', 'Model unavailable: model-1 was retired', 'errored'],
    ['copilot', 'The model is currently unavailable on your plan.', 'errored'],
    ['gemini', 'OAuth: connection error, please log in', 'errored'],
    ['opencode', 'Internal error: cannot read properties of undefined', 'errored'],
    ['opencode', 'Invalid value for --rate-limit: expected a number', 'errored'],
  ];

  test.for(PASSING)('%s: %s', ([agent, words, means]) => {
    expect(meaning(errorReport(words), agent)).toBe(means);
  });

  test.for([
    ['Spending cap reached resets 4pm', 400, 'usage-limited'],
    ['Team budget used up, resets Dec 1 at 12am (UTC)', 403, 'usage-limited'],
    ['The limit of this model is reached · resets in 3h 20m', 429, 'usage-limited'],
    // A limit per minute passes, and what names no limit is about something else.
    ['Request limit reached. Please try again in 59 seconds.', 429, 'transient'],
    ['The page resets 4pm', 404, 'refused-request'],
  ] as const)(
    'is a plan limit with any status, if it names the reset: %s',
    ([words, status, means]) => {
      expect(meaning(errorReport(words, status))).toBe(means);
      const code = {
        result: resultFacts({
          isError: true,
          apiErrorStatus: status,
          text: words,
          errorCode: 'rate_limit',
        }),
      };
      if (status === 429) expect(meaning(errorReport(words, status, code))).toBe(means);
    },
  );

  test('counts only before the agent has worked', () => {
    const words = 'The model is overloaded. Please try again later.';
    expect(meaning(withoutReport(1, `Error: ${words}\n`, { worked: false }))).toBe('transient');
    const worked = { usage: { cost_usd: 0.1, input_tokens: 10, output_tokens: 10 } };
    expect(meaning(errorReport(words, null, worked))).toBe('errored');
    expect(meaning(withoutReport(1, `Error: ${words}\n`, { worked: true }))).toBe('errored');
  });

  test('is nothing in the output of a command, which may be that of its tests', () => {
    const failed = withoutReport(1, 'Error: connection refused\n', { worked: false });
    expect(meaning(failed, 'command')).toBe('errored');
  });
});
