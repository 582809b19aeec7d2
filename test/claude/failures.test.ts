import { describe, expect, test } from 'vitest';
import { drop, error, many, planLimitHeaders, type Reply, text } from '../helpers/api-replies.ts';
import { CLAUDE_FACTS } from '../helpers/install-claude.ts';
import { livingIn } from '../helpers/living-in.ts';
import { PLAN_LOGIN } from '../helpers/real-claude.ts';
import { bash, makeRealScene, type RealScene, WITH_BASH } from '../helpers/real-scene.ts';
import type { RalphEnd } from '../helpers/run-ralph.ts';
import { letTimePass, TOLD_CLOCK, TOLD_LIMIT } from '../helpers/told-clock.ts';

// The real `claude` as it fails, and what ralph makes of it. Its own retries are left as they are by default
// wherever they are the trap.

const PROMISED = 'All good.\n\nTASK_COMPLETE';
const ONE_RETRY = { env: { CLAUDE_CODE_MAX_RETRIES: '1' } };
const OVERLOADED = error(529, 'overloaded_error', 'Overloaded');
const SERVER_ERROR = error(500, 'api_error', 'Internal server error');
const BAD_KEY = error(401, 'authentication_error', 'invalid x-api-key');

/** One attempt, exit 1, and the remedy on standard error and in the note. */
function expectFailed(scene: RealScene, end: RalphEnd, cause: string, remedy: RegExp): void {
  expect(end).toMatchObject({ exitCode: 1, stdout: '' });
  expect(end.stderr).toMatch(remedy);
  expect(scene.state()).toMatchObject({
    status: 'failed',
    exit_reason: `failed:${cause}`,
    current_iteration: 1,
    attempt: 1,
    iterations: [],
    errors: [{ kind: `fatal:${cause}` }],
  });
  const notes = scene.notes();
  expect(notes).toMatchObject([
    {
      name: expect.stringMatching(/^RALPH_FAILED_t_.*\.md$/),
      frontMatter: { reason: `failed:${cause}` },
    },
  ]);
  expect(notes[0]?.text).toMatch(remedy);
  expect(livingIn(scene.home)).toEqual([]);
}

describe('what no further attempt can fix', () => {
  // By itself it would go on for three minutes, and ralph is ended after one.
  test('a bad key, with its own retries', async () => {
    const scene = await makeRealScene(() => BAD_KEY);
    const end = await scene.run();
    expectFailed(scene, end, 'not-logged-in', /claude setup-token.*ANTHROPIC_API_KEY/);
    expect(end.stderr).toContain('401');
  });

  test('a key that becomes bad in the middle of the work', async () => {
    const scene = await makeRealScene((_, index) => (index === 0 ? bash('echo one') : BAD_KEY));
    const end = await scene.run(WITH_BASH);
    expectFailed(scene, end, 'not-logged-in', /claude setup-token/);
    // What it had cost until then is counted all the same.
    expect(scene.state().usage.cost_usd).toBeGreaterThan(0);
  });

  test('a key that is not allowed', async () => {
    const scene = await makeRealScene(() => error(403, 'permission_error', 'Not allowed.'));
    const end = await scene.run();
    expectFailed(scene, end, 'not-logged-in', /claude setup-token/);
    expect(end.stderr).toContain('403');
  });

  test('not logged in', async () => {
    const scene = await makeRealScene([]);
    const end = await scene.run([], { env: { ANTHROPIC_API_KEY: undefined } });
    expectFailed(scene, end, 'not-logged-in', /Not logged in[\s\S]*claude setup-token/);
    expect(scene.api.mainCalls).toHaveLength(0);
  });

  test.for<[string, Reply, string, RegExp]>([
    [
      'no credit',
      error(400, 'invalid_request_error', 'Your credit balance is too low to access the API.'),
      'no-credit',
      /add credit/,
    ],
    ['an unknown model', error(404, 'not_found_error', 'model: x'), 'refused-request', /--model/],
    [
      'a prompt that is too long',
      error(400, 'invalid_request_error', 'prompt is too long: 9 tokens > 8 maximum'),
      'refused-request',
      /shorten the prompt/,
    ],
    [
      'a request that is too large',
      error(413, 'request_too_large', 'Request exceeds the maximum size'),
      'refused-request',
      /shorten the prompt/,
    ],
  ])('%s', async ([, reply, cause, remedy]) => {
    const scene = await makeRealScene(() => reply);
    expectFailed(scene, await scene.run(), cause, remedy);
  });

  test('an unknown option', async () => {
    const scene = await makeRealScene([]);
    const end = await scene.run(['--', '--bogus']);
    expectFailed(scene, end, 'bad-option', /unknown option '--bogus'[\s\S]*remove the option/);
    expect(scene.api.mainCalls).toHaveLength(0);
  });

  test('an unknown permission mode', async () => {
    const scene = await makeRealScene([]);
    const end = await scene.run(['--permission-mode', 'bogus']);
    expectFailed(scene, end, 'bad-option', /--permission-mode[\s\S]*remove the option/);
  });

  describe.runIf(process.getuid?.() === 0)('as root', () => {
    const SKIP = ['--dangerously-skip-permissions'];

    test('permissions are not skipped', async () => {
      const scene = await makeRealScene([]);
      expectFailed(scene, await scene.run(SKIP), 'root-refused', /IS_SANDBOX=1/);
    });

    test('unless it is said to be a sandbox', async () => {
      const scene = await makeRealScene([bash('echo done > file'), text(PROMISED)]);
      const end = await scene.run(SKIP, { env: { IS_SANDBOX: '1' } });
      expect(end).toMatchObject({ exitCode: 0, stdout: `${PROMISED}\n` });
    });
  });

  const unknown = '/fix the bug';
  const isCommand = CLAUDE_FACTS.unknownCommand !== null;
  test.for(['/cost', '/clear\n\nand more', ...(isCommand ? [unknown] : [])])(
    'a prompt taken for a slash command: %j',
    async (prompt) => {
      const scene = await makeRealScene([]);
      const end = await scene.run(['--prompt', prompt]);
      expectFailed(scene, end, 'slash-command', /before the slash/);
      expect(scene.api.mainCalls).toHaveLength(0);
    },
  );

  test.for([
    ...['/home/user/notes.md says it all', '\n/cost', ' /fix the bug'],
    ...(isCommand ? [] : [unknown]),
  ])('a prompt that only looks like one: %j', async (prompt) => {
    const scene = await makeRealScene([text(PROMISED)]);
    expect(await scene.run(['--prompt', prompt])).toMatchObject({ exitCode: 0 });
    expect(scene.api.wasSent(prompt.trim())).toBe(true);
  });
});

describe('what is about the account, whatever status it comes with', () => {
  test('the limit of what an organisation may spend, sent as 400: exit 75 with its reset', async () => {
    const said =
      'You have reached your specified API usage limits. You will regain access on 2099-01-01 at 00:00 UTC.';
    const scene = await makeRealScene(() => error(400, 'invalid_request_error', said));
    const end = await scene.run(['--max-wait', '0']);
    expect(end.exitCode).toBe(75);
    expect(end.stderr).toContain('2099-01-01T00:00:00.000Z');
    expect(scene.state()).toMatchObject({ exit_reason: 'usage_limit', iterations: [] });
  });

  test('a long context that the plan does not include, sent as 429: no waiting cures it', async () => {
    const said = 'Extra usage is required for long context requests.';
    const scene = await makeRealScene(() => error(429, 'rate_limit_error', said));
    const end = await scene.run([], ONE_RETRY);
    expectFailed(scene, end, 'refused-request', /do as the message says/);
    expect(end.stderr).toContain('Extra usage is required');
  });
});

describe('a refusal after work is a failed iteration, and the next one begins afresh', () => {
  const TOO_LONG = 'prompt is too long: 210000 tokens > 200000 maximum';
  test.for<[string, string]>([
    ['a filter', 'Output blocked by content filtering policy'],
    ['a full context', TOO_LONG],
  ])('%s', async ([, said]) => {
    const refusal = error(400, 'invalid_request_error', said);
    let calls = 0;
    const scene = await makeRealScene(() => {
      calls += 1;
      if (calls === 1) return bash('echo one > made');
      return scene.state()?.metrics?.iterations === 1 ? text(PROMISED) : refusal;
    });
    const end = await scene.run([...WITH_BASH, '-n', '2', '--delay', '0', '--session', 'continue']);
    expect(end).toMatchObject({ exitCode: 0, stdout: `${PROMISED}\n` });
    expect(scene.state()).toMatchObject({
      iterations: [{ outcome: 'errored' }, { outcome: 'answered' }],
    });
  });
});

describe('what the user has set up around it', () => {
  function hooks(event: string, command: string): readonly string[] {
    const settings = { hooks: { [event]: [{ hooks: [{ type: 'command', command }] }] } };
    return ['--', '--settings', JSON.stringify(settings)];
  }

  test('a hook that blocks the prompt ends the task, with its words', async () => {
    const scene = await makeRealScene([]);
    const hook = hooks('UserPromptSubmit', 'echo "no ticket number" >&2; exit 2');
    const end = await scene.run(hook);
    expectFailed(scene, end, 'hook', /look at the hooks/);
    expect(end.stderr).toContain('no ticket number');
    expect(end.stderr).not.toContain('Original prompt');
    expect(scene.api.mainCalls).toHaveLength(0);
  });

  test('a Stop hook that never lets go: a promise in front of it does not count', async () => {
    const scene = await makeRealScene(() => text(PROMISED));
    const hook = hooks('Stop', 'echo "run the linter first" >&2; exit 2');
    const end = await scene.run(['-n', '1', ...hook]);
    expect(end.exitCode).toBe(3);
    expect(end.stderr).toMatch(/hook said: .*run the linter first/);
    expect(scene.notes()[0]?.text).toContain('run the linter first');
    expect(end.stderr).toContain('All good.');
  });

  test('an MCP server that does not start is told', async () => {
    const scene = await makeRealScene(() => text('I stop here.'));
    const mcp = JSON.stringify({ mcpServers: { tickets: { command: '/nowhere/tickets' } } });
    const end = await scene.run(['-n', '2', '--delay', '0', '--', '--mcp-config', mcp]);
    expect(end.exitCode).toBe(3);
    expect(end.stderr.match(/MCP server tickets failed to start/g)).toHaveLength(1);
  });
});

describe('what passes', () => {
  test('overloaded for a while: it gives up after three calls, ralph does not', async () => {
    const scene = await makeRealScene([...many(OVERLOADED, 3), text(PROMISED)]);
    const end = await scene.run(['-n', '1']);
    expect(end).toMatchObject({ exitCode: 0, stdout: `${PROMISED}\n` });
    expect(scene.state()).toMatchObject({
      status: 'completed',
      attempt: 2,
      iterations: [{ number: 1, outcome: 'answered' }],
      errors: [{ iteration: 1, attempt: 1, kind: 'transient' }],
    });
  });

  test('overloaded for longer than the limit of an iteration: still one iteration', async () => {
    // It gives up at each third call.
    const scene: RealScene = await makeRealScene((_, index) => {
      if (index === 9) return text(PROMISED);
      if (index % 3 === 0) letTimePass(scene.folder, 2_500);
      return OVERLOADED;
    });
    const args = ['-n', '1', '--iteration-timeout', TOLD_LIMIT];
    const end = await scene.run(args, { env: TOLD_CLOCK });
    expect(end).toMatchObject({ exitCode: 0 });
    expect(scene.state()).toMatchObject({
      attempt: 4,
      iterations: [{ number: 1, outcome: 'answered' }],
    });
  });

  test('faults of the server that its own retries outlast: one attempt, longer than its limit', async () => {
    // Its fifth wait takes 8 s.
    const scene: RealScene = await makeRealScene((_, index) => {
      if (index === 5) return text(PROMISED);
      if (index === 4) letTimePass(scene.folder, 7_000);
      return SERVER_ERROR;
    });
    const args = ['-n', '1', '--iteration-timeout', TOLD_LIMIT];
    const end = await scene.run(args, { env: TOLD_CLOCK });
    expect(end.exitCode).toBe(0);
    expect(end.stderr).toContain('the agent retries by itself after 500');
    expect(scene.state()).toMatchObject({
      attempt: 1,
      iterations: [{ number: 1, outcome: 'answered' }],
      errors: [],
    });
  });

  test.for<[string, Reply]>([
    ['a fault of the server', SERVER_ERROR],
    ['a limit on the rate of a key', error(429, 'rate_limit_error', 'Slow down.')],
    ['no network', drop()],
    ['overloaded', OVERLOADED],
  ])('%s, to the end of its retries: tried again by ralph', async ([, reply]) => {
    const scene = await makeRealScene([...many(reply, 2), text(PROMISED)]);
    const end = await scene.run(['-n', '1'], ONE_RETRY);
    expect(end.exitCode).toBe(0);
    expect(scene.state()).toMatchObject({
      attempt: 2,
      iterations: [{ number: 1, outcome: 'answered' }],
      errors: [{ kind: 'transient' }],
    });
  });

  test('in the middle of the work: the cost of the failed attempt is counted', async () => {
    const scene = await makeRealScene([bash('echo one'), ...many(SERVER_ERROR, 2), text(PROMISED)]);
    const end = await scene.run([...WITH_BASH, '-n', '1'], ONE_RETRY);
    expect(end.exitCode).toBe(0);
    const { usage, iterations } = scene.state();
    expect(usage).toMatchObject({ input_tokens: 2000, output_tokens: 100 });
    expect(iterations).toMatchObject([{ input_tokens: 2000, output_tokens: 100 }]);
  });

  test('a fault that stays, and no wait allowed: exit 75 with a note', async () => {
    const scene = await makeRealScene(() => OVERLOADED);
    const end = await scene.run(['--retries', '0', '--max-wait', '0'], ONE_RETRY);
    expect(end).toMatchObject({ exitCode: 75, stdout: '' });
    expect(scene.state()).toMatchObject({ status: 'usage_limited', iterations: [] });
    expect(scene.notes()).toMatchObject([{ name: expect.stringMatching(/^RALPH_LIMITED_t_/) }]);
  });

  test('a limit of the plan, and no wait allowed: exit 75 after one call', async () => {
    const headers = planLimitHeaders({ status: 'rejected', resetsAt: 4_102_491_600 });
    const scene = await makeRealScene([error(429, 'rate_limit_error', 'Limit reached.', headers)]);
    const end = await scene.run(['--retries', '0', '--max-wait', '0'], { env: PLAN_LOGIN });
    expect(end.exitCode).toBe(75);
    expect(scene.state()).toMatchObject({ status: 'usage_limited', iterations: [] });
    expect(scene.api.mainCalls).toHaveLength(1);
  });
});

describe('its own bounds', () => {
  test.for<[string, readonly string[]]>([
    ['turns', ['--max-turns', '1']],
    ['budget', ['--max-budget-usd', '0.0001']],
  ])('%s: the iteration counts, its words complete nothing', async ([, bound]) => {
    const step: Reply = {
      kind: 'message',
      blocks: [
        { type: 'text', text: PROMISED },
        { type: 'tool_use', name: 'Bash', input: { command: 'echo one', description: 'A step' } },
      ],
    };
    const scene = await makeRealScene(() => step);
    const end = await scene.run([...WITH_BASH, '-n', '2', '--delay', '0', '--', ...bound]);
    expect(end).toMatchObject({ exitCode: 3, stdout: '' });
    const { iterations } = scene.state();
    expect(iterations).toMatchObject([{ outcome: 'bounded' }, { outcome: 'bounded' }]);
    expect(iterations[0].cost_usd).toBeGreaterThan(0);
  });
});

test('inside another claude: it starts all the same', async () => {
  const scene = await makeRealScene([text(PROMISED)]);
  const end = await scene.run([], { env: { CLAUDECODE: '1', CLAUDE_CODE_ENTRYPOINT: 'cli' } });
  expect(end).toMatchObject({ exitCode: 0 });
});
