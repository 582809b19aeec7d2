import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { LIMIT, PATIENCE_MS } from '../helpers/patience.ts';
import { untilDead } from '../helpers/processes.ts';
import { type Json, jsonLines, makeScene } from '../helpers/scene.ts';

const WORKING = { text: 'Still working.' };
const FINAL = 'Good.\n\nTASK_COMPLETE';
const DONE = { text: FINAL };

const ENDING_FIELDS = [
  'status',
  'exit_reason',
  'exit_code',
  'iterations_used',
  'usage',
  'evidence',
  'final_message',
  'note',
  'state_file',
  'log_dir',
];

/** Escape sequences, control characters but line ends and tabs, and what turns the writing direction. */
const ACTS_ON_A_TERMINAL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** One of each kind. */
const EVIL =
  '\u001b[31mred\u001b[0m \u001b]0;title\u0007 \u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\ \u001bc \u009b2J \u0007\b\u0000\u007f \u202eback\u2066 \u001b[2J\u001bPq\u001b\\ \rover \u200f';

describe('standard output and standard error', () => {
  test('the result on the one, progress on the other', async () => {
    const scene = await makeScene([
      { tools: [{ name: 'Bash', input: { command: 'npm test' } }], ...WORKING },
      { before: ['Once more.'], ...DONE },
    ]);
    const { stdout, stderr } = await scene.run(['-n', '4']);
    expect(stdout).toBe(`${FINAL}\n`);
    const lines = stderr.trimEnd().split('\n');
    expect(lines.every((line) => line.startsWith('ralph: '))).toBe(true);
    const said = (pattern: RegExp) => lines.filter((line) => pattern.test(line)).length;
    expect(said(/^ralph: task t: /)).toBe(1);
    expect(said(/iteration 1\/4 started/)).toBe(1);
    expect(said(/iteration 1 answered in .*\$0\.01.*Still working\./)).toBe(1);
    expect(said(/iteration 2\/4 started/)).toBe(1);
    expect(said(/^ralph: completed: Fix it$/)).toBe(1);
    expect(said(/^ralph: used: 2 iterations, .*, \$0\.02/)).toBe(1);
    // Only with --verbose.
    expect(said(/Bash|Once more/)).toBe(0);
    // What a claude that may do nothing means is said once, and not where something is allowed.
    expect(said(/default permissions/)).toBe(1);
    for (const flag of [
      ['--permission-mode', 'acceptEdits'],
      ['--allowed-tools', 'Edit'],
    ]) {
      const allowed = await (await makeScene(DONE)).run(flag);
      expect(allowed.stderr).not.toMatch(/default permissions/);
    }
  });

  test('--quiet says nothing where it ends well', async () => {
    const scene = await makeScene([{ leaves: 'sleep 60', ...WORKING, stderr: 'noise\n' }, DONE]);
    const { exitCode, stdout, stderr } = await scene.run(['--quiet']);
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: `${FINAL}\n`, stderr: '' });
  });

  test('--quiet tells what went wrong', async () => {
    const exhausted = await makeScene(WORKING);
    const { exitCode, stderr } = await exhausted.run(['--quiet', '-n', '1']);
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/iterations ran out/);
    expect(stderr).toContain(exhausted.notes()[0]?.path);
    expect(stderr).not.toMatch(/iteration 1\/1 started/);
    const failed = await makeScene({ isError: true, text: 'Not logged in · Please run /login' });
    const login = await failed.run(['--quiet']);
    expect(login.exitCode).toBe(1);
    expect(login.stderr).toMatch(/Not logged in[\s\S]*claude setup-token/);
    const usage = await failed.ralph(['run', '--quiet']);
    expect(usage.exitCode).toBe(2);
    expect(usage.stderr).toMatch(/exactly one/);
  });

  test('--verbose shows text and tool calls as they come', async () => {
    const scene = await makeScene([
      {
        before: ['First I look.\nThen I run.'],
        tools: [{ name: 'Bash', input: { command: 'npm test' } }],
        ...DONE,
      },
    ]);
    const { stdout, stderr } = await scene.run(['--verbose']);
    expect(stdout).toBe(`${FINAL}\n`);
    const order = ['First I look.\nThen I run.', 'Bash: npm test', FINAL];
    const places = order.map((words) => stderr.indexOf(words));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  test('no colour ever goes where no terminal is', async () => {
    const scene = await makeScene([WORKING, DONE]);
    const env = { FORCE_COLOR: '3', CLICOLOR_FORCE: '1', TERM: 'xterm-256color' };
    const { stdout, stderr } = await scene.run(['--verbose'], { env });
    expect(stdout + stderr).not.toContain('\u001b');
  });

  test('a final message of 300 kB comes whole, also through a slow pipe', async () => {
    const text = `${'é漢😀 text.\n'.repeat(15_000)}\nTASK_COMPLETE`;
    const scene = await makeScene({ text });
    const { exitCode, stdout } = await scene.run();
    expect(exitCode).toBe(0);
    expect(stdout === `${text}\n`).toBe(true);
  });
});

describe('--json', () => {
  test.for<[string, readonly Turn[], readonly string[], Json]>([
    [
      'completed',
      [
        { ...WORKING, text: 'I will say TASK_COMPLETE' },
        { before: ['x'], ...DONE },
      ],
      [],
      {
        event: 'task_completed',
        status: 'completed',
        exit_code: 0,
        iterations_used: 2,
        final_message: FINAL,
        note: null,
        evidence: { kind: 'promise', detail: 'TASK_COMPLETE' },
        usage: { cost_usd: 0.02, input_tokens: 200, output_tokens: 20 },
      },
    ],
    [
      'exhausted',
      [WORKING],
      ['-n', '1'],
      {
        event: 'max_iterations_reached',
        status: 'max_iterations_reached',
        exit_code: 3,
        max_iterations: 1,
        iterations_used: 1,
        evidence: null,
        note: expect.stringMatching(/Needs_Action\/RALPH_EXHAUSTED_t_/),
      },
    ],
    [
      'failed',
      [{ isError: true, text: 'Not logged in · Please run /login' }],
      [],
      {
        event: 'task_failed',
        status: 'failed',
        exit_code: 1,
        exit_reason: 'failed:not-logged-in',
        error: 'Not logged in · Please run /login',
        iterations_used: 0,
      },
    ],
    [
      'stalled',
      [refused(), refused()],
      [],
      { event: 'task_stalled', status: 'stalled', exit_code: 5, exit_reason: 'refused' },
    ],
    [
      'out of time',
      [{ hangs: true }],
      ['--timeout', LIMIT],
      { event: 'task_timeout', status: 'timeout', exit_code: 4 },
    ],
  ])('%s: one event a line, the last one the only ending', async ([, turns, args, expected]) => {
    const scene = await makeScene(turns);
    const { stdout, exitCode } = await scene.run(['--json', ...args]);
    const events = jsonLines(stdout);
    expect(events.at(-1)).toMatchObject(expected);
    expect(exitCode).toBe(expected.exit_code);
    expect(Object.keys(events.at(-1))).toEqual(expect.arrayContaining(ENDING_FIELDS));
    expect(events.filter((event) => 'exit_code' in event && 'status' in event)).toHaveLength(1);
    expect(existsSync(events.at(-1).state_file)).toBe(true);
    expect(existsSync(events.at(-1).log_dir)).toBe(true);

    expect(events[0]).toMatchObject({
      event: 'task_started',
      prompt: 'Fix it',
      max_iterations: expect.any(Number),
    });
    expect(events[1]).toMatchObject({ event: 'iteration_started', iteration: 1 });
    for (const event of events) {
      expect(Object.keys(event).slice(0, 3)).toEqual(['event', 'at', 'task_id']);
      expect(event.task_id).toBe('t');
      expect(new Date(event.at).toISOString()).toBe(event.at);
    }
    const iterated = events.filter(({ event }) => event === 'task_iterated');
    expect(iterated.map(({ iteration }) => iteration)).toEqual(
      turns.slice(0, events.at(-1).iterations_used).map((_, index) => index + 1),
    );
    for (const event of iterated) expect(event).toMatchObject({ outcome: expect.any(String) });
    // The journal tells the same.
    expect(scene.journal()).toEqual(events);
  });

  test('near misses, held claims and activity are events', async () => {
    const scene = await makeScene([
      { text: 'I will say TASK_COMPLETE soon' },
      { ...refused(), thinking: 'hm', before: ['Look:'] },
      DONE,
    ]);
    const { stdout, stderr } = await scene.run(['--json']);
    const events = jsonLines(stdout);
    expect(events).toContainEqual(
      expect.objectContaining({ event: 'near_miss', iteration: 1, why: 'in-a-sentence' }),
    );
    expect(events).toContainEqual(
      expect.objectContaining({ event: 'claim_held', iteration: 2, gate: 'refused-tools' }),
    );
    const activity = events.filter(({ event }) => event === 'agent_activity');
    expect(activity.map(({ iteration, activity: what }) => [iteration, what])).toEqual([
      [1, { kind: 'text', text: 'I will say TASK_COMPLETE soon' }],
      [2, { kind: 'thinking' }],
      [2, { kind: 'text', text: 'Look:' }],
      [2, { kind: 'tool', tool: 'Bash', target: 'npm test' }],
      [2, { kind: 'text', text: 'TASK_COMPLETE' }],
      [3, { kind: 'text', text: 'Good.' }],
    ]);
    // Progress is told all the same, where people read it.
    expect(stderr).toMatch(/iteration 3 answered/);
  });

  test('a usage error leaves standard output empty', async () => {
    const scene = await makeScene(DONE);
    const { exitCode, stdout } = await scene.ralph(['run', '--json']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  });
});

function refused(): Turn {
  return { denials: [{ name: 'Bash', input: { command: 'npm test' } }], text: 'TASK_COMPLETE' };
}

describe('what the agent writes never acts on the terminal', () => {
  const everywhere: Turn = {
    thinking: EVIL,
    before: [`Look: ${EVIL}`, `${EVIL}`],
    tools: [{ name: `Bash${EVIL}`, input: { command: `echo ${EVIL}` }, result: EVIL }],
    denials: [{ name: 'Write', input: { file_path: `/x${EVIL}` } }],
    stderr: EVIL,
    text: `I will say TASK_COMPLETE ${EVIL}?`,
  };

  test.for<[string, readonly Turn[], readonly string[], number]>([
    ['in all it says', [everywhere, { text: `${EVIL}\nTASK_COMPLETE\n${EVIL}` }], [], 3],
    [
      'in the final message',
      [{ text: `${EVIL}\nAll good.\n\n<promise>TASK_COMPLETE</promise>` }],
      [],
      0,
    ],
    [
      'in a message that is asked about',
      [
        { text: `${EVIL}\n<promise>TASK_COMPLETE</promise>\n${EVIL}` },
        { text: '<promise>TASK_COMPLETE</promise>' },
      ],
      [],
      0,
    ],
    [
      'in failures, in error reports and in its own retries',
      [
        { bare: true, stderr: `${EVIL}\nbroken ${EVIL}`, exitCode: 1 },
        { isError: true, text: `It broke ${EVIL}` },
        { isError: true, text: `API Error: 500 ${EVIL}`, apiErrorStatus: 500 },
        { apiRetries: [{ status: 500, error: EVIL }], ...DONE },
      ],
      [],
      0,
    ],
    ['in a login failure', [{ isError: true, text: `Not logged in ${EVIL}` }], [], 1],
    [
      'in an unknown option',
      [{ bare: true, stderr: `error: unknown option '${EVIL}'\n`, exitCode: 1 }],
      [],
      1,
    ],
    ['in a refused request', [{ isError: true, text: EVIL, apiErrorStatus: 400 }], [], 1],
  ])('%s', async ([, turns, , expected]) => {
    for (const flags of [['--verbose'], ['--json'], ['--quiet']]) {
      const scene = await makeScene(turns);
      const { exitCode, stdout, stderr } = await scene.run([...flags, '-n', String(turns.length)]);
      expect({ flags, exitCode }).toEqual({ flags, exitCode: expected });
      expect(stderr).not.toMatch(ACTS_ON_A_TERMINAL);
      expect(stdout).not.toMatch(ACTS_ON_A_TERMINAL);
      if (flags.includes('--json')) {
        for (const event of jsonLines(stdout)) expect(texts(event)).not.toMatch(ACTS_ON_A_TERMINAL);
      }
      for (const note of scene.notes()) expect(note.text).not.toMatch(ACTS_ON_A_TERMINAL);
    }
  });

  test('in what it left running', async () => {
    const scene = await makeScene({ leaves: `sleep 60 #${EVIL.replaceAll('\0', '')}`, ...DONE });
    const { exitCode, stderr } = await scene.run();
    expect(exitCode).toBe(0);
    expect(stderr).not.toMatch(ACTS_ON_A_TERMINAL);
  });

  test('characters are not torn where the output comes in pieces', async () => {
    const scene = await makeScene();
    await scene.write('agent.sh', 'cat > /dev/null; printf x; yes é漢😀 | head -c 600000');
    const agent = ['--agent', 'command', '--agent-command', 'sh agent.sh'];
    const { stderr } = await scene.run([...agent, '--verbose', '-n', '1']);
    expect(stderr.length).toBeGreaterThan(100_000);
    // The very end is cut inside a character by `head`.
    expect(stderr.indexOf('\ufffd')).toBeOneOf([-1, stderr.lastIndexOf('\ufffd')]);
  });
});

/** Every text in a value, decoded. */
function texts(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(texts).join('\n');
}

describe('a reader that goes away', () => {
  test.for<readonly string[]>([[], ['--json'], ['--verbose']])('%j', async (flags) => {
    const scene = await makeScene({ leaves: 'sleep 60', text: `${'x\n'.repeat(100_000)}${FINAL}` });
    const ralph = await scene.start(['run', '-p', 'Fix it', ...flags]);
    ralph.child.stdout.destroy();
    const { exitCode, stderr } = await ralph.ended;
    expect(exitCode).toBe(0);
    expect(stderr).not.toMatch(/EPIPE|node:|at .*\.js:\d+/);
    for (const { pid } of scene.fake.calls()) await untilDead(pid);
  });

  test('of standard error', async () => {
    const scene = await makeScene([{ leaves: 'sleep 60', ...WORKING }, DONE]);
    const ralph = await scene.start(['run', '-p', 'Fix it', '--delay', '0', '--verbose']);
    ralph.child.stderr.destroy();
    const { exitCode, stdout } = await ralph.ended;
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${FINAL}\n` });
  });

  test('a pipe into head, and outputs that are closed from the start', async () => {
    const scene = await makeScene({ text: `${'x\n'.repeat(100_000)}${FINAL}` });
    const run = 'ralph run -p x --json --task-id';
    const script = `${run} a | head -n 0; ${run} b >&- ; echo "b $?"; ${run} c 2>&- | tail -n 1`;
    const options = { cwd: scene.folder, env: scene.env, encoding: 'utf8' } as const;
    const { stdout, stderr } = spawnSync('/bin/sh', ['-c', script], options);
    expect(stderr).not.toMatch(/EPIPE|EBADF|node:|at .*\.js:\d+/);
    expect(stdout).toMatch(/^b 0\n\{"event":"task_completed"/);
    expect(scene.names('.ralph_state/history')).toEqual(
      ['a', 'b', 'c'].flatMap((id) => [id, `${id}.json`]),
    );
  });
});

test('an output that the disk takes only in part is told, and is no success', async () => {
  const scene = await makeScene();
  const options = { cwd: scene.folder, env: scene.env, encoding: 'utf8' } as const;
  const script = 'ulimit -f 8; ralph help run > out';
  const { status, stderr } = spawnSync('/bin/sh', ['-c', script], options);
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(/^ralph: standard output could not be written: EFBIG: .+\n$/),
  });
});

test('a configuration that the disk takes only in part is not kept', async () => {
  const scene = await makeScene();
  const options = { cwd: scene.folder, env: scene.env, encoding: 'utf8' } as const;
  const { status, stdout } = spawnSync('/bin/sh', ['-c', 'ulimit -f 1; ralph init'], options);
  expect({ status, stdout }).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('not created  ralph.config.yaml: EFBIG'),
  });
  expect(scene.has('ralph.config.yaml')).toBe(false);
});

describe('the state folder', () => {
  test('holds state, prompt, settings, baseline and logs, for its owner alone', async () => {
    const scene = await makeScene([WORKING, { stderr: 'oops\n', ...WORKING }]);
    const script = 'umask 000; exec ralph run -p "Fix it" -n 2 --delay 0 --task-id t 2>/dev/null';
    const options = { cwd: scene.folder, env: scene.env, encoding: 'utf8' } as const;
    expect(spawnSync('/bin/sh', ['-c', script], options).status).toBe(3);
    expect(scene.names('.ralph_state')).toEqual(['.gitignore', 'events.jsonl', 't', 't.json']);
    expect(scene.names('.ralph_state/t')).toEqual([
      'baseline.json',
      'iteration-0001.stderr.log',
      'iteration-0001.stdout.log',
      'iteration-0002.stderr.log',
      'iteration-0002.stdout.log',
      'memory-1.json',
      'memory-2.json',
      'prompt.md',
      'requests',
      'settings.json',
    ]);
    expect(scene.read('.ralph_state/.gitignore')).toBe('*\n');
    expect(scene.read('.ralph_state/t/iteration-0002.stderr.log')).toBe('oops\n');
    const folder = join(scene.folder, '.ralph_state');
    for (const name of ['', ...(readdirSync(folder, { recursive: true }) as string[])]) {
      const stats = statSync(join(folder, name));
      const mode = (stats.mode & 0o777).toString(8);
      expect({ name, mode }).toEqual({ name, mode: stats.isDirectory() ? '700' : '600' });
    }
    for (const name of ['settings', 'baseline']) {
      expect(() => JSON.parse(scene.read(`.ralph_state/t/${name}.json`))).not.toThrow();
    }
  });

  test('git does not see it', async () => {
    const scene = await makeScene(WORKING);
    const options = { cwd: scene.folder, env: scene.env, encoding: 'utf8' } as const;
    spawnSync('git', ['init', '-q'], options);
    await scene.run(['-n', '1']);
    const { stdout } = spawnSync('git', ['status', '--porcelain'], options);
    expect(stdout).not.toContain('.ralph_state');
  });

  test('the state has all of its fields, and no other', async () => {
    const scene = await makeScene([
      { ...refused(), text: 'I will say COMPLETE' },
      { text: 'x', exitCode: 1 },
    ]);
    await scene.run(['-n', '2', '--promise', 'COMPLETE', '--watch-glob', 'out/*']);
    const state = scene.state();
    const keys = (text: string) => text.split(/,\s*/).sort();
    expect(Object.keys(state).sort()).toEqual(
      keys(
        'schema_version, agent, agents, session_usage, task_id, task_prompt, prompt_sha256, task_type, task_file, completion_promise, match, watch_glob, watch_file, done_folder, max_iterations, current_iteration, attempt, status, started_at, updated_at, finished_at, timeout_at, exit_reason, evidence, iterations, errors, wait, progress, usage, metrics, breaker, paused_for_approval, approval, session_id, git_base, driver, memory, save, git, sandbox, sum',
      ),
    );
    expect(Object.keys(state.iterations[0]).sort()).toEqual(
      keys(
        'number, started_at, duration_ms, outcome, exit_code, completed, near_miss, cost_usd, input_tokens, output_tokens, turns, tools, refused, files_changed, output_preview',
      ),
    );
    expect(Object.keys(state.errors[0]).sort()).toEqual(
      keys('at, iteration, attempt, kind, message'),
    );
    expect(Object.keys(state.usage).sort()).toEqual(keys('cost_usd, input_tokens, output_tokens'));
    expect(Object.keys(state.metrics).sort()).toEqual(
      keys('total_duration_seconds, iterations, api_calls, files_created, files_modified'),
    );
    expect(state).toMatchObject({
      schema_version: 1,
      task_id: 't',
      task_prompt: 'Fix it',
      task_type: 'default',
      task_file: null,
      completion_promise: 'COMPLETE',
      match: 'statement',
      watch_glob: ['out/*'],
      watch_file: null,
      done_folder: 'Done',
      max_iterations: 2,
      current_iteration: 2,
      attempt: 1,
      status: 'max_iterations_reached',
      wait: null,
      driver: null,
      session_id: '00000000-0000-4000-8000-000000000001',
      paused_for_approval: false,
      usage: { cost_usd: 0.02, input_tokens: 200, output_tokens: 20 },
      iterations: [
        {
          number: 1,
          outcome: 'answered',
          exit_code: 0,
          completed: false,
          near_miss: true,
          cost_usd: 0.01,
          input_tokens: 100,
          output_tokens: 10,
          turns: 2,
          tools: 1,
          refused: ['Bash: npm test'],
          output_preview: 'I will say COMPLETE',
        },
        { number: 2, outcome: 'errored', exit_code: 1, near_miss: false, refused: [] },
      ],
    });
    for (const field of ['started_at', 'updated_at', 'finished_at', 'timeout_at']) {
      expect(new Date(state[field]).toISOString()).toBe(state[field]);
    }
    expect(Date.parse(state.timeout_at) - Date.parse(state.started_at)).toBe(30 * 60_000);
  });

  test('while it runs the state names its driver', async () => {
    const scene = await makeScene({ shell: 'cp "$RALPH_STATE_FILE" seen.json', ...DONE });
    const ralph = await scene.start(['run', '-p', 'Fix it', '--task-id', 't']);
    expect((await ralph.ended).exitCode).toBe(0);
    const seen = JSON.parse(scene.read('seen.json'));
    expect(seen).toMatchObject({ status: 'running', current_iteration: 1, finished_at: null });
    expect(Object.keys(seen.driver).sort()).toEqual([
      'beat_at',
      'boot_id',
      'host',
      'pid',
      'pid_namespace',
      'pid_started_at',
      'run_id',
    ]);
    expect(seen.driver.pid).toBe(ralph.pid);
  });

  test('a completed task moves to the history, and an older one of its name makes room', async () => {
    const scene = await makeScene([WORKING, DONE, DONE]);
    expect((await scene.run(['-n', '1'])).exitCode).toBe(3);
    const exhausted = scene.state();

    const second = await scene.run();
    expect(second.exitCode).toBe(0);
    expect(second.stderr).toMatch(/earlier run of t/);
    expect(scene.names('.ralph_state')).toEqual(['.gitignore', 'events.jsonl', 'history']);
    const completed = scene.state();
    expect(completed).toMatchObject({ status: 'completed', evidence: { kind: 'promise' } });
    expect(completed.iterations).toHaveLength(1);

    expect((await scene.run()).exitCode).toBe(0);
    const names = [exhausted, completed].map(({ started_at }) => historyName(started_at));
    expect(scene.names('.ralph_state/history')).toEqual(
      ['t', ...names].flatMap((name) => [name, `${name}.json`]).sort(),
    );
    const kept = names.map((name) => JSON.parse(scene.read(`.ralph_state/history/${name}.json`)));
    expect(kept).toEqual([exhausted, completed]);
    expect(scene.names(`.ralph_state/history/${names[0]}`)).toContain('iteration-0001.stdout.log');
    // Three runs, one journal.
    const ends = scene.journal().filter((event) => 'exit_code' in event && 'status' in event);
    expect(ends.map(({ status }) => status)).toEqual([
      'max_iterations_reached',
      'completed',
      'completed',
    ]);
    expect(ends[1].state_file).toBe(join(scene.folder, '.ralph_state/history/t.json'));
  });

  test('without an id a task is named by its prompt, without what may be a secret', async () => {
    const scene = await makeScene(WORKING);
    const prompt = 'Rotate the password=correcthorse now';
    expect((await scene.ralph(['run', '-p', prompt, '-n', '1'])).exitCode).toBe(3);
    expect(scene.names('.ralph_state')).toContainEqual(
      expect.stringMatching(/^rotate-now-[a-z\d]{4}\.json$/),
    );
  });

  test('the log holds the whole output', async () => {
    const scene = await makeScene();
    await scene.write(
      'agent.sh',
      'cat > /dev/null; yes 0123456 | head -c 3000000; echo oops >&2; echo; echo TASK_COMPLETE',
    );
    const agent = ['--agent', 'command', '--agent-command', 'sh agent.sh'];
    const { exitCode, stdout } = await scene.run([...agent, '-n', '1']);
    expect(exitCode).toBe(0);
    const log = (name: string) =>
      readFileSync(join(scene.folder, `.ralph_state/history/t/iteration-0001.${name}.log`), 'utf8');
    expect(log('stdout') === `${'0123456\n'.repeat(375_000)}\nTASK_COMPLETE\n`).toBe(true);
    expect(log('stderr')).toBe('oops\n');
    // Of the final message the end is kept, 1 MB of it.
    expect(stdout.length).toBe(1_048_576);
    expect(stdout.endsWith('\n0123456\n\nTASK_COMPLETE\n')).toBe(true);
  });

  test('of claude too, over all attempts', async () => {
    const fault = { isError: true, text: 'API Error: 529 x', apiErrorStatus: 529 };
    const scene = await makeScene([
      fault,
      { tools: [{ name: 'Read', resultBytes: 2_000_000 }], ...DONE },
    ]);
    expect((await scene.run()).exitCode).toBe(0);
    const log = scene.read('.ralph_state/history/t/iteration-0001.stdout.log');
    const lines = jsonLines(log);
    expect(lines.filter(({ type }) => type === 'result')).toHaveLength(2);
    expect(log.length).toBeGreaterThan(2_000_000);
    expect(scene.state()).toMatchObject({
      attempt: 2,
      errors: [{ kind: 'transient', iteration: 1, attempt: 1 }],
      iterations: [{ number: 1, completed: true }],
    });
  });

  test('that cannot be made is said once, and the loop goes on', async () => {
    const scene = await makeScene([WORKING, DONE]);
    await scene.write('.ralph_state', 'a file');
    const { exitCode, stdout, stderr } = await scene.run();
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${FINAL}\n` });
    expect(stderr.match(/state cannot be kept/g)).toHaveLength(1);
  });

  test('stands in the vault, and the agent works elsewhere', async () => {
    const scene = await makeScene([{ shell: 'touch here', ...WORKING }]);
    await scene.write('repo/a', '');
    expect((await scene.run(['--vault', 'vault', '--cwd', 'repo', '-n', '1'])).exitCode).toBe(3);
    expect(scene.names()).toEqual(['repo', 'vault']);
    expect(scene.names('repo')).toEqual(['a', 'here']);
    expect(scene.names('vault')).toEqual(['.ralph_state', 'Needs_Action']);
  });
});

/** The name an older task gets: its start, without what file systems and shells dislike. */
function historyName(startedAt: string): string {
  return `t.${startedAt.replaceAll(':', '')}`;
}

// `script` gives its command a terminal of its own.
const SCRIPT = '/usr/bin/script';
describe.skipIf(process.platform !== 'linux' || !existsSync(SCRIPT))('on a terminal', () => {
  async function onTerminal(
    turns: readonly Turn[],
    env: Record<string, string>,
    flags = '',
    columns = 80,
  ) {
    const scene = await makeScene(turns);
    // Nothing ends what runs on a terminal of its own but itself.
    const ralph = `timeout -s KILL ${PATIENCE_MS / 1_000} ralph run -p "Fix it" --delay 0 ${flags}`;
    const command = columns > 0 ? `stty rows 24 cols ${columns}; ${ralph}` : ralph;
    const { stdout, status } = spawnSync(SCRIPT, ['-qec', command, '/dev/null'], {
      cwd: scene.folder,
      env: { ...scene.env, TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
      encoding: 'utf8',
      maxBuffer: 100_000_000,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return { shown: stdout, status };
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence that sets colours
  const COLOUR = /\u001b\[\d*(;\d+)*m/;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what only the agent has written
  const OF_THE_AGENT = /\u001b\]|\u001bc|\u0007|\u009b|\u202e|\u001b\[2J/;

  test('there is a spinner in colour, and the cursor is back at the end', async () => {
    const { shown, status } = await onTerminal([WORKING, DONE], {});
    expect(status).toBe(0);
    expect(shown).toMatch(COLOUR);
    expect(shown).toContain('2/5 answered');
    expect(shown.lastIndexOf('\u001b[?25h')).toBeGreaterThan(shown.lastIndexOf('\u001b[?25l'));
  });

  test.for<[Record<string, string>, string]>([
    [{ NO_COLOR: '1' }, ''],
    [{}, '--no-color'],
    [{ NO_COLOR: '1' }, '--verbose'],
  ])('no colour with %j %s, and nothing of the agent acts', async ([env, flag]) => {
    const evil = { before: [EVIL], tools: [{ name: EVIL, input: { command: EVIL } }] };
    const { shown, status } = await onTerminal([{ ...evil, ...DONE }], env, flag);
    expect(status).toBe(0);
    expect(shown).toContain('completed');
    expect(shown).not.toMatch(COLOUR);
    expect(shown).not.toMatch(OF_THE_AGENT);
  });

  test('a terminal that can do nothing gets plain lines', async () => {
    const { shown, status } = await onTerminal([DONE], { TERM: 'dumb' });
    expect(status).toBe(0);
    expect(shown).not.toContain('\u001b');
  });

  // So it is under `docker exec -t`, `expect` and many a CI: the size of the terminal is not set.
  test.for([0, 2])('a terminal of %i columns does not hold it up', async (columns) => {
    const { shown, status } = await onTerminal([WORKING, DONE], {}, '', columns);
    expect(status).toBe(0);
    expect(shown).toContain('TASK_COMPLETE');
    expect(shown.length).toBeLessThan(100_000);
  });
});
