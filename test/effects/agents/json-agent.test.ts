import { describe, expect, test } from 'vitest';
import { type AgentsOptions, agentKind } from '../../../src/compose/agent.ts';
import type { AgentName } from '../../../src/core/agent/agents/agents.ts';
import type { RetryFacts } from '../../../src/core/agent/attempt.ts';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import type { Settings } from '../../../src/core/settings/settings.ts';
import { QUIET_SIGNS } from '../../../src/effects/agents/agent.ts';
import { forAgent } from '../../../src/effects/processes/find-program.ts';

const FIRST = { resumeSession: null, budgetUsd: null };
const UUID = '01a2b3c4-0000-7000-8000-000000000001';

/** What the agents of a run are made from: the defaults, but for what is given. */
function options(
  settings: Partial<Settings> = {},
  more: Partial<AgentsOptions> = {},
): AgentsOptions {
  const { settings: defaults } = resolveSettings([]);
  return { settings: { ...defaults, ...settings }, passthrough: [], env: {}, cwd: '/', ...more };
}

function argv(
  agent: AgentName,
  settings: Partial<Settings> = {},
  passthrough: readonly string[] = [],
  resumeSession: string | null = null,
): string {
  const kind = agentKind(agent, options(settings, { passthrough }));
  return [kind.program, ...kind.args({ ...FIRST, resumeSession })].join(' ');
}

describe('the arguments', () => {
  test.for<[AgentName, string]>([
    ['codex', 'codex exec --json --skip-git-repo-check -'],
    ['gemini', 'gemini -o stream-json --skip-trust'],
    ['opencode', 'opencode run --format json'],
    ['qwen', 'qwen -o stream-json'],
    ['copilot', 'copilot --output-format json'],
  ])('of %s are what ralph needs, where nothing was asked for', ([agent, expected]) => {
    expect(argv(agent)).toBe(expected);
  });

  test.for<[AgentName, Partial<Settings>, string]>([
    ['codex', { model: ['m'] }, '-m m'],
    ['gemini', { model: ['m'] }, '-m m'],
    ['opencode', { model: ['p/m'] }, '-m p/m'],
    ['qwen', { model: ['m'] }, '-m m'],
    ['copilot', { model: ['m'] }, '--model=m'],
    ['codex', { permissionMode: 'acceptEdits' }, '-s workspace-write'],
    ['codex', { permissionMode: 'plan' }, '-s read-only'],
    ['codex', { permissionMode: 'danger-full-access' }, '-s danger-full-access'],
    ['gemini', { permissionMode: 'acceptEdits' }, '--approval-mode auto_edit'],
    ['gemini', { permissionMode: 'plan' }, '--approval-mode plan'],
    ['qwen', { permissionMode: 'acceptEdits' }, '--approval-mode auto-edit'],
    ['qwen', { permissionMode: 'plan' }, '--approval-mode plan'],
    ['copilot', { permissionMode: 'acceptEdits' }, '--allow-tool=write'],
    ['qwen', { allowedTools: ['a', 'b'] }, '--allowed-tools=a,b'],
    ['copilot', { allowedTools: ['shell(git:*)'] }, '--allow-tool=shell(git:*)'],
    [
      'codex',
      { dangerouslySkipPermissions: true, permissionMode: 'plan' },
      '--dangerously-bypass-approvals-and-sandbox',
    ],
    [
      'gemini',
      { dangerouslySkipPermissions: true, permissionMode: 'plan' },
      '--approval-mode yolo',
    ],
    ['opencode', { dangerouslySkipPermissions: true }, '--auto'],
    ['qwen', { dangerouslySkipPermissions: true, permissionMode: 'plan' }, '--yolo'],
    ['copilot', { dangerouslySkipPermissions: true }, '--allow-all-tools'],
  ])('of %s for %o', ([agent, settings, expected]) => {
    const own = argv(agent, settings).replace(/ -$/, '');
    expect(own).toBe(`${argv(agent).replace(/ -$/, '')} ${expected}`);
  });

  test('of opencode have none for acceptEdits', () => {
    expect(argv('opencode', { permissionMode: 'acceptEdits' })).toBe(argv('opencode'));
  });

  test.for<[AgentName, string]>([
    ['codex', `codex exec --json --skip-git-repo-check -c a=b resume ${UUID} -`],
    ['gemini', `gemini -o stream-json --skip-trust -r ${UUID} -c a=b`],
    ['opencode', `opencode run --format json -s ${UUID} -c a=b`],
    ['qwen', `qwen -o stream-json -r ${UUID} -c a=b`],
    ['copilot', `copilot --output-format json --resume=${UUID} -c a=b`],
  ])('of %s for a session, and what the user gave after --', ([agent, expected]) => {
    expect(argv(agent, {}, ['-c', 'a=b'], UUID)).toBe(expected);
  });

  test.for([
    ['acceptEdits', '-s danger-full-access'],
    ['plan', '-s read-only'],
  ] as const)('of codex in a sandbox, where %s is asked for: %s', ([permissionMode, flags]) => {
    const inside = { ...options({ permissionMode }), inSandbox: true };
    const args = agentKind('codex', inside).args({ resumeSession: null, budgetUsd: null });
    expect(args.join(' ')).toContain(flags);
  });

  test('of codex name no session whose id is no UUID: it would begin a new one', () => {
    expect(argv('codex', {}, [], 'my-name')).toBe(argv('codex'));
  });

  test('begin with the program that --agent-bin names, which is looked for nowhere else', () => {
    const kind = agentKind('codex', options({ agentBin: ['./mine'] }, { env: { HOME: '/h' } }));
    expect(kind).toMatchObject({ program: './mine', folders: [] });
    const plain = agentKind('opencode', options({}, { env: { HOME: '/h' } }));
    expect(plain.folders).toContain('/h/.opencode/bin');
  });
});

test('an agent does not see the variables of one that ralph runs inside', () => {
  const env = {
    CODEX_SANDBOX: '1',
    CODEX_THREAD_ID: '2',
    CODEX_HOME: '/c',
    CODEX_API_KEY: 'k',
    GEMINI_CLI: '1',
    GEMINI_CLI_NO_RELAUNCH: '1',
    GEMINI_API_KEY: 'k',
    OPENCODE: '1',
    OPENCODE_CONFIG: '/o',
    CLAUDECODE: '1',
  };
  expect(Object.keys(forAgent(env))).toEqual([
    'CODEX_HOME',
    'CODEX_API_KEY',
    'GEMINI_API_KEY',
    'OPENCODE_CONFIG',
  ]);
});

function read(agent: AgentName, stdout: readonly object[], stderr = '') {
  const signs: string[] = [];
  const retries: RetryFacts[] = [];
  const reader = agentKind(agent, options()).read(
    { activity() {}, text() {}, did() {}, retry: (retry) => retries.push(retry) },
    {
      ...QUIET_SIGNS,
      hopeless: (cause) => signs.push(cause) > 0,
      retrying: () => signs.push('retrying'),
      resultGiven: () => signs.push('result'),
    },
  );
  reader.pushStderr?.(Buffer.from(stderr));
  reader.push(Buffer.from(stdout.map((event) => `${JSON.stringify(event)}\n`).join('')));
  reader.end();
  return { facts: reader.facts(), signs, retries };
}

describe('the retries of an agent', () => {
  const refused = (attempt: number) => ({
    type: 'error',
    message: `Reconnecting... ${attempt}/5 (unexpected status 401 Unauthorized: x)`,
  });
  const said = { type: 'item.completed', item: { type: 'agent_message', text: 'Good.' } };

  test('are hopeless after two refusals in a row', () => {
    expect(read('codex', [refused(1)]).signs).toEqual(['retrying']);
    expect(read('codex', [refused(1), refused(2)]).signs).toEqual(['retrying', 'hopeless-retries']);
    expect(read('codex', [refused(1), said, refused(1)]).signs).toEqual(['retrying', 'retrying']);
  });

  test('are read with their number and status', () => {
    expect(read('codex', [refused(2)]).retries).toMatchObject([
      { status: 401, attempt: 2, maxRetries: 5 },
    ]);
    const stderr = 'Attempt 3 failed with status 503. Retrying with backoff... _ApiError: {}\n';
    expect(read('gemini', [], stderr).retries).toMatchObject([{ status: 503, attempt: 3 }]);
    // A service that says when to come back.
    const asked =
      'Attempt 2 failed: Too many requests.\nSuggested retry after 0.1s.. Retrying after 5034ms...\n';
    expect(read('gemini', [], asked).retries).toMatchObject([{ status: null, attempt: 2 }]);
  });

  test('end with the next words of the model', () => {
    expect(read('codex', [refused(1)]).facts.endedInRetry).toBe(true);
    expect(read('codex', [refused(1), said]).facts.endedInRetry).toBe(false);
  });
});

test('gemini has not answered if it has used no token and said nothing', () => {
  const done = (stats: object, ...before: readonly object[]) =>
    read('gemini', [...before, { type: 'result', status: 'success', stats }]);
  expect(done({ input_tokens: 0, output_tokens: 0 }).facts.result).toMatchObject({ isError: true });
  expect(done({ input_tokens: 9, output_tokens: 0 }).facts.result).toMatchObject({
    isError: false,
  });
  // Behind a gateway that tells no usage, gemini counts no token.
  const said = { type: 'message', role: 'assistant', content: 'All good.', delta: true };
  expect(done({ input_tokens: 0 }, said).facts.result).toMatchObject({ isError: false });
  const error = { type: 'error', severity: 'error', message: 'Quota exceeded' };
  expect(done({ input_tokens: 0 }, error).facts.result).toMatchObject({ text: 'Quota exceeded' });
});

test('a session id that looks like a flag is not taken', () => {
  const { facts } = read('gemini', [{ type: 'init', session_id: '--yolo' }]);
  expect(facts.sessionId).toBeNull();
});

test('an error counts only if nothing better follows', () => {
  const error = { type: 'error', severity: 'error', message: 'Something broke' };
  const text = { type: 'message', role: 'assistant', content: 'Good.', delta: true };
  expect(read('gemini', [error]).facts.result).toMatchObject({ isError: true });
  expect(read('gemini', [error, text]).facts.result).toBeNull();
});

test('an error counts if nothing but a success without any work follows', () => {
  const error = { type: 'session.error', data: { message: 'You have no quota', statusCode: 402 } };
  const said = { type: 'assistant.message', data: { content: 'Good.' } };
  const done = { type: 'result', exitCode: 0 };
  const of = (...events: readonly object[]) => read('copilot', events).facts.result;
  expect(of(error, done)).toMatchObject({ isError: true, text: 'You have no quota' });
  expect(of(error, said, done)).toMatchObject({ isError: false });
  expect(of(said, error, done)).toMatchObject({ isError: false });
});

test('an agent is waited for only briefly once it has given its result', () => {
  const done = { type: 'result', status: 'success', stats: {} };
  expect(read('gemini', [done]).signs).toEqual(['result']);
});

test.for([
  [{ agentId: 'agent-2' }, {}],
  [{}, { parentToolCallId: 'call_1' }],
])('what a sub-agent of copilot says is no message of copilot: %o', ([envelope, more]) => {
  const message = (content: string, own = {}, its = {}) => ({
    type: 'assistant.message',
    data: { content, ...its },
    ...own,
  });
  const done = { type: 'result', exitCode: 0 };
  const said = [message('It still works.'), message('<promise>DONE</promise>', envelope, more)];
  expect(read('copilot', [...said, done]).facts.finalMessage).toBe('It still works.');
});
