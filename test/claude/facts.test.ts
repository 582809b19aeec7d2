import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  drop,
  error,
  hang,
  many,
  planLimitHeaders,
  text,
  thinking,
  together,
  toolUse,
  withHeaders,
} from '../helpers/api-replies.ts';
import { CLAUDE_FACTS } from '../helpers/install-claude.ts';
import { type ApiScript, type MessagesApi, startMessagesApi } from '../helpers/messages-api.ts';
import { endLater, isDead, until, untilDead, untilLine } from '../helpers/processes.ts';
import { PLAN_LOGIN, runClaude, STREAM_JSON, type StreamEvent } from '../helpers/real-claude.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// What ralph relies on in the real `claude`, without ralph. When one of these fails after a new version of
// `claude`, the ground has moved: look first at what here is believed of it.

const ONE_RETRY = { CLAUDE_CODE_MAX_RETRIES: '1' };
const PROMISE = 'All good.\n\n<promise>DONE</promise>';

async function api(script: ApiScript): Promise<MessagesApi> {
  const started = await startMessagesApi(script);
  onTestFinished(() => started.close());
  return started;
}

function bash(command: string): ReturnType<typeof toolUse> {
  return toolUse('Bash', { command, description: 'A step' });
}

/** `system/init`, `assistant`, … in the order of the lines. */
function kinds(events: readonly StreamEvent[]): readonly string[] {
  return events.map(({ type, subtype }) =>
    subtype === undefined ? `${type}` : `${type}/${subtype}`,
  );
}

function ofKind(events: readonly StreamEvent[], kind: string): readonly StreamEvent[] {
  return events.filter((_, index) => kinds(events)[index] === kind);
}

describe('the lines of stream-json', () => {
  test('a tool call and an answer: init first, one line a content block, tool results as user lines, result last', async () => {
    const server = await api([
      together(thinking('I will list.'), text('Listing.'), bash('echo listed')),
      text(PROMISE),
    ]);
    const { events, stderr, exitCode } = await runClaude(
      server,
      [...STREAM_JSON, '--allowed-tools', 'Bash'],
      { input: 'Do it.' },
    );
    expect(exitCode).toBe(0);
    expect(stderr).toBe('');
    const shown = kinds(events).filter((kind) => kind !== 'system/thinking_tokens');
    expect(shown).toEqual([
      'system/init',
      'assistant',
      'assistant',
      'assistant',
      'user',
      'assistant',
      'result/success',
    ]);
    expect(events[0]).toMatchObject({
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      model: expect.any(String),
      permissionMode: 'default',
      tools: expect.arrayContaining(['Bash', 'Edit', 'Read', 'Write']),
    });
    const [thought, words, call, answer] = ofKind(events, 'assistant');
    const message = (content: object) => ({
      parent_tool_use_id: null,
      message: { id: 'msg_0001', role: 'assistant', content: [content] },
    });
    expect(thought).toMatchObject(message({ type: 'thinking', thinking: 'I will list.' }));
    expect(words).toMatchObject(message({ type: 'text', text: 'Listing.' }));
    expect(call).toMatchObject(message({ type: 'tool_use', id: 'toolu_0001', name: 'Bash' }));
    // What the API said when the message began: the true number of output tokens comes only in the result.
    expect(words).toMatchObject({ message: { usage: { input_tokens: 1000, output_tokens: 1 } } });
    expect(answer).toMatchObject({ message: { id: 'msg_0002' } });
    expect(ofKind(events, 'user')[0]).toMatchObject({
      message: {
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_0001', content: 'listed', is_error: false },
        ],
      },
    });
    expect(server.overrun).toBe(0);
  });

  test('the result: text, cost, tokens, turns, session', async () => {
    const server = await api([bash('echo one'), text(PROMISE)]);
    const { events, result } = await runClaude(
      server,
      [...STREAM_JSON, '--allowed-tools', 'Bash'],
      { input: 'Do it.' },
    );
    expect(result).toMatchObject({
      subtype: 'success',
      is_error: false,
      api_error_status: null,
      result: PROMISE,
      session_id: events[0]?.session_id,
      num_turns: 2,
      usage: { input_tokens: 2000, output_tokens: 100 },
      permission_denials: [],
      terminal_reason: 'completed',
    });
    expect(result?.total_cost_usd).toBeGreaterThan(0);
  });

  test('a sub-agent: its lines name the call they belong to, its answer stands only in that call’s result', async () => {
    const server = await api([
      toolUse('Task', {
        ...{ description: 'Look', prompt: 'Look.', subagent_type: 'general-purpose' },
        // Newer versions do not wait for it otherwise.
        run_in_background: false,
      }),
      together(text('Looking.'), bash('echo sub')),
      text(PROMISE),
      text('Still at it.'),
    ]);
    const { events, result } = await runClaude(
      server,
      [...STREAM_JSON, '--allowed-tools', 'Bash'],
      { input: 'Do it.' },
    );
    expect(result).toMatchObject({ result: 'Still at it.', usage: { input_tokens: 2000 } });
    const own = ofKind(events, 'assistant').filter((line) => line.parent_tool_use_id === null);
    expect(own).toHaveLength(2);
    const subAgents = events.filter((line) => line.parent_tool_use_id === 'toolu_0001');
    expect(kinds(subAgents)).toEqual(expect.arrayContaining(['user', 'assistant']));
    expect(JSON.stringify(subAgents)).not.toContain('<promise>');
    // The money of the sub-agent is in the sum: four messages' worth.
    const { usage, modelUsage } = result as { usage: object; modelUsage: Record<string, object> };
    expect(usage).toMatchObject({ input_tokens: 2000 });
    expect(Object.values(modelUsage)).toMatchObject([{ inputTokens: 4000 }]);
  });

  test('a background task that ends after the result brings a second init and a second result, whose cost is the sum', async () => {
    const server = await api([
      toolUse('Bash', { command: 'sleep 3', description: 'Later', run_in_background: true }),
      text('Started it.'),
      text(PROMISE),
    ]);
    const { events, result } = await runClaude(
      server,
      [...STREAM_JSON, '--allowed-tools', 'Bash'],
      { input: 'Do it.' },
    );
    expect(ofKind(events, 'system/init')).toHaveLength(2);
    const [first, second] = ofKind(events, 'result/success');
    expect(first).toMatchObject({ result: 'Started it.', num_turns: 2 });
    expect(second).toMatchObject({ result: PROMISE, num_turns: 1, usage: { input_tokens: 1000 } });
    expect(second).toBe(result);
    expect(Number(second?.total_cost_usd)).toBeGreaterThan(Number(first?.total_cost_usd));
  });
});

describe('refused tools', () => {
  test('every tool refused, and still exit 0 and success: only permission_denials says so', async () => {
    const server = await api([
      together(bash('npm test'), toolUse('Write', { file_path: 'note.txt', content: 'x' })),
      text(PROMISE),
    ]);
    const { events, result, exitCode } = await runClaude(server, STREAM_JSON, { input: 'Do it.' });
    expect(exitCode).toBe(0);
    expect(result).toMatchObject({
      subtype: 'success',
      is_error: false,
      result: PROMISE,
      permission_denials: [
        { tool_name: 'Bash', tool_use_id: 'toolu_0001', tool_input: { command: 'npm test' } },
        {
          tool_name: 'Write',
          tool_use_id: 'toolu_0002',
          // As the tool would have taken it: the path made absolute.
          tool_input: { file_path: expect.stringMatching(/^\/.*\/note\.txt$/) },
        },
      ],
    });
    const results = ofKind(events, 'user').map((line) => line.message);
    expect(results).toMatchObject([
      { content: [{ tool_use_id: 'toolu_0001', is_error: true }] },
      { content: [{ tool_use_id: 'toolu_0002', is_error: true }] },
    ]);
  });

  test('what the user forbade, and what was worked around, is listed too', async () => {
    const server = await api([bash('npm test'), bash('ls'), text(PROMISE)]);
    const { result } = await runClaude(
      server,
      [...STREAM_JSON, '--allowed-tools', 'Bash', '--disallowed-tools', 'Bash(npm:*)'],
      { input: 'Do it.' },
    );
    expect(result).toMatchObject({
      result: PROMISE,
      permission_denials: [{ tool_name: 'Bash', tool_input: { command: 'npm test' } }],
    });
  });
});

describe('a flag with its value in one word', () => {
  const allowed = async (args: readonly string[], command: string): Promise<boolean> => {
    const server = await api([bash(command), text('ok')]);
    const { result } = await runClaude(server, [...STREAM_JSON, ...args], { input: 'Do it.' });
    expect(result).toMatchObject({ result: 'ok' });
    return Array.isArray(result?.permission_denials) && result.permission_denials.length === 0;
  };

  test.for<[allowed: boolean, word: string, command: string]>([
    [true, '--allowedTools=Read,Bash(touch:*)', 'touch a'],
    [true, '--allowedTools=Bash(touch:*),Read', 'touch a'],
    // A comma and a blank inside parentheses belong to the pattern.
    [true, '--allowedTools=Read,Bash(touch a, b:*)', 'touch a, b c'],
    [false, '--allowedTools=Read,Bash(touch a, b:*)', 'touch c'],
    [true, '--permission-mode=acceptEdits', 'touch a'],
    // What looks like a flag in it is none.
    [false, '--allowedTools=Read,--dangerously-skip-permissions', 'touch a'],
    [false, '--model=--dangerously-skip-permissions', 'touch a'],
  ])('%s: %s lets it run %s', async ([expected, word, command]) => {
    expect(await allowed([word, '--max-turns', '3'], command)).toBe(expected);
  });

  test('--model and --permission-mode are read', async () => {
    const server = await api([text('ok')]);
    const words = ['--model=claude-haiku-4-5-20251001', '--permission-mode=plan'];
    const { events } = await runClaude(server, [...STREAM_JSON, ...words], { input: 'Do it.' });
    expect(events[0]).toMatchObject({ model: words[0]?.slice(8), permissionMode: 'plan' });
  });

  test('--resume goes on with the session, or says that there is none', async () => {
    const folder = await tempFolder();
    const server = await api([text('one'), text('two')]);
    const run = (args: readonly string[]) =>
      runClaude(server, [...STREAM_JSON, ...args], { input: 'Do it.', home: folder, cwd: folder });
    const { result } = await run([]);
    const again = await run([`--resume=${result?.session_id}`]);
    expect(again.result).toMatchObject({ result: 'two', session_id: result?.session_id });
    const unknown = await run(['--resume=00000000-0000-4000-8000-000000000000']);
    expect(unknown.stderr).toContain('No conversation found with session ID');
  });
});

describe('failures', () => {
  test('its own retries show as api_retry lines, and the answer after them is a success', async () => {
    const server = await api([
      error(500, 'api_error', 'Internal server error'),
      drop(),
      text('ok'),
    ]);
    const { events, result, exitCode } = await runClaude(server, STREAM_JSON, { input: 'Do it.' });
    expect(ofKind(events, 'system/api_retry')).toMatchObject([
      {
        attempt: 1,
        max_retries: 10,
        retry_delay_ms: expect.any(Number),
        error_status: 500,
        error: 'server_error',
      },
      { attempt: 2, error_status: null, error: 'unknown' },
    ]);
    expect(result).toMatchObject({ is_error: false, result: 'ok' });
    expect(exitCode).toBe(0);
  });

  test('a bad key: with its own retries it goes on for minutes, and its first two lines say 401', async () => {
    const server = await api(many(error(401, 'authentication_error', 'invalid x-api-key'), 20));
    const { events, signal } = await runClaude(server, STREAM_JSON, {
      input: 'Do it.',
      during: async (child) => {
        await untilLine(child.stdout, /"api_retry","attempt":2/);
        child.kill('SIGKILL');
      },
    });
    expect(signal).toBe('SIGKILL');
    expect(ofKind(events, 'system/api_retry').slice(0, 2)).toMatchObject([
      { error_status: 401, error: 'authentication_failed', max_retries: 10 },
      { error_status: 401, error: 'authentication_failed', max_retries: 10 },
    ]);
  });

  const refusals = [
    [401, 'authentication_error', 'invalid x-api-key', 401, 'Invalid API key'],
    [403, 'permission_error', 'Not allowed.', 403, 'Failed to authenticate. API Error: 403'],
    [404, 'not_found_error', 'model: x', 404, "There's an issue with the selected model"],
    [
      400,
      'invalid_request_error',
      'Your credit balance is too low',
      400,
      'Credit balance is too low',
    ],
    [
      400,
      'invalid_request_error',
      'prompt is too long: 9 tokens > 8 maximum',
      400,
      'Prompt is too long',
    ],
    [429, 'rate_limit_error', 'Slow down.', 429, 'API Error: Request rejected (429)'],
    [500, 'api_error', 'Internal server error', 500, 'API Error: 500 Internal server error'],
    [529, 'overloaded_error', 'Overloaded', 529, 'API Error: 529 Overloaded'],
  ] as const;
  test.for(refusals)(
    'the API says %i %s (%s): subtype success, is_error, exit 1, the error in result',
    async ([status, type, words, apiErrorStatus, shown]) => {
      const server = await api(many(error(status, type, words), 5));
      const { result, exitCode, stderr } = await runClaude(server, STREAM_JSON, {
        input: 'Do it.',
        env: ONE_RETRY,
      });
      expect(exitCode).toBe(1);
      expect(stderr).toBe('');
      expect(result).toMatchObject({
        subtype: 'success',
        is_error: true,
        api_error_status: apiErrorStatus,
        result: expect.stringContaining(shown),
      });
    },
  );

  test('overloaded, with its own retries: three calls', async () => {
    const server = await api(many(error(529, 'overloaded_error', 'Overloaded'), 20));
    const { result, exitCode } = await runClaude(server, STREAM_JSON, { input: 'Do it.' });
    expect(exitCode).toBe(1);
    expect(server.mainCalls).toHaveLength(3);
    expect(result).toMatchObject({
      is_error: true,
      api_error_status: CLAUDE_FACTS.overloadedStatus,
      result: expect.stringContaining('Repeated 529 Overloaded errors'),
    });
  });

  test('the network is gone: no status in the result', async () => {
    const server = await api(many(drop(), 5));
    const { result, exitCode } = await runClaude(server, STREAM_JSON, {
      input: 'Do it.',
      env: ONE_RETRY,
    });
    expect(exitCode).toBe(1);
    expect(result).toMatchObject({
      is_error: true,
      api_error_status: null,
      result: expect.stringContaining(CLAUDE_FACTS.networkGone),
    });
  });

  test('a plan’s limit: a rate_limit_event with the time, no retry', async () => {
    const headers = planLimitHeaders({ status: 'rejected', resetsAt: 4_102_491_600 });
    const server = await api([error(429, 'rate_limit_error', 'Limit reached.', headers)]);
    const { events, result, exitCode } = await runClaude(server, STREAM_JSON, {
      input: 'Do it.',
      env: PLAN_LOGIN,
    });
    expect(exitCode).toBe(1);
    expect(ofKind(events, 'rate_limit_event')).toMatchObject([
      {
        rate_limit_info: {
          status: 'rejected',
          resetsAt: 4_102_491_600,
          rateLimitType: 'five_hour',
        },
      },
    ]);
    expect(result).toMatchObject({
      is_error: true,
      api_error_status: 429,
      result: expect.stringMatching(/^You've hit your .*limit · resets /),
    });
    expect(server.mainCalls).toHaveLength(1);
  });

  test('a warning of a plan’s limit is only that', async () => {
    const headers = planLimitHeaders({
      status: 'allowed_warning',
      resetsAt: 4_102_491_600,
      utilization: 0.93,
    });
    const server = await api([withHeaders(text('ok'), headers)]);
    const { events, result } = await runClaude(server, STREAM_JSON, {
      input: 'Do it.',
      env: PLAN_LOGIN,
    });
    expect(ofKind(events, 'rate_limit_event')).toMatchObject([
      { rate_limit_info: { status: 'allowed_warning', utilization: 0.93 } },
    ]);
    expect(result).toMatchObject({ is_error: false, result: 'ok' });
  });

  test('not logged in', async () => {
    const server = await api([]);
    const { result, exitCode } = await runClaude(server, STREAM_JSON, {
      input: 'Do it.',
      env: { ANTHROPIC_API_KEY: undefined },
    });
    expect(exitCode).toBe(1);
    expect(result).toMatchObject({
      subtype: 'success',
      is_error: true,
      api_error_status: null,
      result: 'Not logged in · Please run /login',
      num_turns: 1,
    });
    expect(server.requests.filter(({ kind }) => kind !== 'probe')).toEqual([]);
  });

  test('--max-turns: exit 1, no result text', async () => {
    const server = await api([bash('echo one'), text(PROMISE)]);
    const { result, exitCode } = await runClaude(
      server,
      [...STREAM_JSON, '--max-turns', '1', '--allowed-tools', 'Bash'],
      { input: 'Do it.' },
    );
    expect(exitCode).toBe(1);
    expect(result).toMatchObject({ subtype: 'error_max_turns', is_error: true });
    expect(result).not.toHaveProperty('result');
  });

  test('--max-budget-usd: exit 1, no result text', async () => {
    const server = await api([bash('echo one'), text(PROMISE)]);
    const { result, exitCode } = await runClaude(
      server,
      [...STREAM_JSON, '--max-budget-usd', '0.0001', '--allowed-tools', 'Bash'],
      { input: 'Do it.' },
    );
    expect(exitCode).toBe(1);
    expect(result).toMatchObject({
      subtype: 'error_max_budget_usd',
      errors: ['Reached maximum budget ($0.0001)'],
    });
    expect(result).not.toHaveProperty('result');
  });
});

// It gives itself a bounded time to end, which a slow machine overruns now and then.
describe('signals', { retry: 2 }, () => {
  /** The process id in a file, once it is there and written. */
  function pidIn(file: string): number | null {
    const words = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return words.endsWith('\n') ? Number(words) : null;
  }

  /** Runs `claude` with a Bash tool that sleeps, and sends the signal once that tool runs. */
  async function signalTool(name: NodeJS.Signals) {
    const cwd = await tempFolder();
    const sleep = bash('echo $$ > tool.pid; exec sleep 30');
    const server = await api([together(text('Waiting.'), sleep), text(PROMISE)]);
    let tool = 0;
    const run = await runClaude(server, [...STREAM_JSON, '--allowed-tools', 'Bash'], {
      input: 'Do it.',
      cwd,
      during: async (child) => {
        tool = await until(
          () => pidIn(join(cwd, 'tool.pid')),
          () => 'the tool',
        );
        endLater(tool);
        child.kill(name);
      },
    });
    return { ...run, tool };
  }

  test('SIGINT while a tool runs: the tool is ended, the result still comes, with the cost', async () => {
    const { exitCode, result, tool } = await signalTool('SIGINT');
    // 1 or 0, as chance has it: the code says nothing here.
    expect([0, 1]).toContain(exitCode);
    expect(result).toMatchObject({ subtype: 'error_during_execution', is_error: true });
    expect(result?.total_cost_usd).toBeGreaterThan(0);
    await untilDead(tool);
  });

  test('SIGTERM while a tool runs: no result, and the tool may live on', async () => {
    const { exitCode, result, events, tool } = await signalTool('SIGTERM');
    expect(exitCode).toBe(143);
    expect(result).toBeNull();
    const answered = CLAUDE_FACTS.endsToolOnSigterm ? ['user'] : [];
    expect(kinds(events)).toEqual(['system/init', 'assistant', 'assistant', ...answered]);
    if (CLAUDE_FACTS.endsToolOnSigterm) await untilDead(tool);
    else expect(isDead(tool)).toBe(false);
  });

  test('SIGINT while the API does not answer: exit 0, and no result that is a success', async () => {
    const server = await api([bash('echo one'), hang()]);
    const run = await runClaude(server, [...STREAM_JSON, '--allowed-tools', 'Bash'], {
      input: 'Do it.',
      during: async (child) => {
        await server.untilMainCalls(2);
        child.kill('SIGINT');
      },
    });
    expect(run.exitCode).toBe(0);
    // Most often there is none at all.
    expect(run.result ?? { is_error: true }).toMatchObject({ is_error: true });
  });

  test('SIGINT while it waits before a retry: exit 0, and a result that is an error', async () => {
    const server = await api(many(error(500, 'api_error', 'Internal server error'), 20));
    const run = await runClaude(server, STREAM_JSON, {
      input: 'Do it.',
      // The wait before the third call is about 1 s long.
      during: async (child) => {
        await untilLine(child.stdout, /"api_retry","attempt":2/);
        child.kill('SIGINT');
      },
    });
    expect(run).toMatchObject({
      exitCode: 0,
      result: { subtype: 'error_during_execution', is_error: true },
    });
  });
});

describe('the command line', () => {
  test('an unknown option: one line on standard error, nothing else', async () => {
    const server = await api([]);
    const run = await runClaude(server, [...STREAM_JSON, '--bogus'], { input: 'Do it.' });
    expect(run).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: "error: unknown option '--bogus'\n",
    });
  });

  test.runIf(process.getuid?.() === 0)(
    '--dangerously-skip-permissions as root is refused, unless IS_SANDBOX=1',
    async () => {
      const server = await api([text('ok')]);
      const args = [...STREAM_JSON, '--dangerously-skip-permissions'];
      const refused = await runClaude(server, args, { input: 'Do it.' });
      expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
      expect(refused.stderr).toContain('cannot be used with root/sudo privileges');
      const allowed = await runClaude(server, args, { input: 'Do it.', env: { IS_SANDBOX: '1' } });
      expect(allowed).toMatchObject({ exitCode: 0, result: { result: 'ok' } });
    },
  );

  test('no prompt at all', async () => {
    const server = await api([]);
    const run = await runClaude(server, STREAM_JSON);
    expect(run).toMatchObject({ exitCode: 1, stdout: '' });
    expect(run.stderr).toContain('Input must be provided either through stdin or as a prompt');
  });

  test('a prompt on standard input may be long, and begin with a dash', async () => {
    const server = await api([text('ok')]);
    const prompt = `- fix the bug ${'and the next '.repeat(25_000)}\nEND`;
    const { exitCode } = await runClaude(server, STREAM_JSON, { input: prompt });
    expect(exitCode).toBe(0);
    expect(server.wasSent(prompt)).toBe(true);
  });
});

describe('a prompt that begins with a slash', () => {
  const { cost, unknownCommand } = CLAUDE_FACTS;
  const commands: readonly (readonly [string, string])[] = [
    ['/cost', cost],
    ...(unknownCommand === null ? [] : [['/fix the bug', unknownCommand] as const]),
  ];
  test.for(commands)(
    '%j is a command: exit 0, no error, no turn, no cost, no call',
    async ([input, answer]) => {
      const server = await api([]);
      const { result, exitCode } = await runClaude(server, STREAM_JSON, { input });
      expect(exitCode).toBe(0);
      expect(result).toMatchObject({
        subtype: 'success',
        is_error: false,
        num_turns: 0,
        total_cost_usd: 0,
        result: expect.stringContaining(answer),
      });
      expect(server.mainCalls).toHaveLength(0);
    },
  );

  const unknown = unknownCommand === null ? ['/fix the bug'] : [];
  test.for(['\n/cost', ' /cost', '/home/user/notes.md says it', ...unknown])(
    '%j is a prompt',
    async (input) => {
      const server = await api([text('ok')]);
      const { result } = await runClaude(server, STREAM_JSON, { input });
      expect(result).toMatchObject({ num_turns: 1, result: 'ok' });
    },
  );
});

describe('a path after an @ in the prompt', () => {
  /** Runs `claude` on a prompt about a file outside its folder; whether the file's content reached the API. */
  async function contentReached(prompt: (file: string) => string): Promise<boolean> {
    const folder = await tempFolder();
    const file = join(folder, 'secret.txt');
    const home = join(folder, 'home');
    await mkdir(home);
    await writeFile(file, 'the-content-of-the-file\n');
    await writeFile(join(home, 'secret.txt'), 'the-content-of-the-file\n');
    const server = await api([text('ok')]);
    const { result } = await runClaude(server, STREAM_JSON, { input: prompt(file), home });
    expect(result).toMatchObject({ result: 'ok', permission_denials: [] });
    expect(server.wasSent(basename(file))).toBe(true);
    return server.wasSent('the-content-of-the-file');
  }

  test.for<[string, (file: string) => string]>([
    ['alone', (file) => `@${file}`],
    ['in a sentence', (file) => `Look at @${file} please.`],
    ['of the home folder', () => 'Look at @~/secret.txt please.'],
    ['in a code fence', (file) => `See:\n\`\`\`\n@${file}\n\`\`\`\n`],
    ['in a tag', (file) => `<data>\n@${file}\n</data>`],
    ['in a quotation', (file) => `> @${file}`],
    ['after a tab', (file) => `Look at\t@${file}`],
    ['after a space that does not break', (file) => `Look at\u00a0@${file}`],
    ['after an ideographic full stop', (file) => `見て。@${file}`],
    ['in quotes of its own', (file) => `Look at @"${file}" please.`],
  ])('%s: the content is sent', async ([, prompt]) => {
    expect(await contentReached(prompt)).toBe(true);
  });

  test.for<[string, (file: string) => string]>([
    ['after a backslash', (file) => `Look at \\@${file} please.`],
    ['after a backslash, at the start', (file) => `\\@${file}`],
    ['in quotes of its own after a backslash', (file) => `Look at \\@"${file}" please.`],
    ['after a letter', (file) => `Look at x@${file} please.`],
    ['after a bracket', (file) => `Look (@${file}) please.`],
    ['after a quote', (file) => `Look at "@${file}" please.`],
    ['after a backtick', (file) => `Look at \`@${file}\` please.`],
  ])('%s: the content is not sent', async ([, prompt]) => {
    expect(await contentReached(prompt)).toBe(false);
  });

  test('in a tool’s output: the content is not sent', async () => {
    const folder = await tempFolder();
    const file = join(folder, 'secret.txt');
    await writeFile(file, 'the-content-of-the-file\n');
    const server = await api([bash(`echo @${file}`), text('ok')]);
    await runClaude(server, [...STREAM_JSON, '--allowed-tools', 'Bash'], { input: 'Do it.' });
    expect(server.mainCalls).toHaveLength(2);
    expect(server.wasSent(`@${file}`)).toBe(true);
    expect(server.wasSent('the-content-of-the-file')).toBe(false);
  });
});

test('nothing leaves the machine: what is meant for another host ends at the stand-in', async () => {
  const fetchPage = toolUse('WebFetch', { url: 'https://example.com/', prompt: 'What is it?' });
  const server = await api([fetchPage, text('ok')]);
  await runClaude(server, [...STREAM_JSON, '--allowed-tools', 'WebFetch'], { input: 'Do it.' });
  const strays = server.requests.filter(({ kind }) => kind === 'stray');
  expect(strays).toMatchObject([{ method: 'CONNECT', path: 'api.anthropic.com:443' }]);
  expect(server.mainCalls).toHaveLength(2);
});
