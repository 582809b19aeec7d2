import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type Json, makeScene, type Scene } from '../helpers/scene.ts';
import { tempFolder } from '../helpers/temp-folder.ts';
import { writeTrusted } from '../helpers/trusted-config.ts';

const RALPH = fileURLToPath(new URL('../../bin/ralph.js', import.meta.url));
const NODE = dirname(process.execPath);
const hasStrace = spawnSync('strace', ['-V']).status === 0;

/** Everything below a folder: names, kinds, modes, times and content. */
function picture(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const file = join(folder, name);
      const stats = lstatSync(file);
      const content = stats.isFile()
        ? readFileSync(file, 'utf8')
        : stats.isSymbolicLink()
          ? readlinkSync(file)
          : '';
      return `${name} ${stats.mode} ${stats.mtimeMs} ${content}`;
    })
    .concat(`. ${lstatSync(folder).mtimeMs}`);
}

/** The plan as JSON, and what lies in the folder is as before. */
async function planOf(
  scene: Scene,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Json> {
  const before = picture(scene.folder);
  const { exitCode, stdout, stderr } = await scene.run(['--dry-run', '--json', ...args], { env });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(picture(scene.folder)).toEqual(before);
  expect(scene.fake.calls()).toEqual([]);
  return JSON.parse(stdout);
}

describe('with no agent installed', () => {
  /** Folders to compare, and an environment in which there is a node and nothing else. */
  async function bareMachine() {
    const root = await tempFolder();
    const [work, home, temporary] = ['work', 'home', 'tmp'].map((name) => join(root, name));
    for (const folder of [work, home, temporary]) mkdirSync(folder ?? '');
    const env = { PATH: NODE, HOME: home ?? '', TMPDIR: temporary ?? '' };
    return { root, work: work ?? '', env };
  }

  test('it ends 0, says so, and leaves no trace in folder, home or TMPDIR', async () => {
    const { root, work, env } = await bareMachine();
    const before = picture(root);
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [
        RALPH,
        'run',
        '-p',
        'Fix it',
        '--vault',
        'not/there',
        '--state-dir',
        'nor/this',
        '--dry-run',
      ],
      { cwd: work, env, encoding: 'utf8' },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^The task .* would start\. Nothing was started or written\.\n/);
    expect(stdout).toMatch(/Cannot start the agent: claude was not found in /);
    expect(stdout).toContain('claude --print --verbose --output-format stream-json');
    expect(stdout).toContain(join(work, 'nor/this'));
    expect(picture(root)).toEqual(before);
  });

  test.skipIf(!hasStrace)('no process is started and no file opened for writing', async () => {
    const scene = await makeScene({ text: 'TASK_COMPLETE' });
    const log = join(scene.home, 'strace.log');
    const calls = 'trace=execve,execveat,fork,vfork,clone,clone3,openat,mkdir,rename,unlink';
    const { status } = spawnSync(
      'strace',
      ['-f', '-qq', '-e', calls, '-o', log, process.execPath, RALPH, 'run', '-p', 'x', '--dry-run'],
      { cwd: scene.folder, env: scene.env, encoding: 'utf8' },
    );
    expect(status).toBe(0);
    const lines = readFileSync(log, 'utf8').split('\n');
    expect(lines.filter((line) => line.includes('execve'))).toEqual([
      expect.stringContaining(process.execPath),
    ]);
    const forks = lines.filter((line) => /\b(?:v?fork|clone3?)\(/.test(line));
    // Threads of node's own are no processes.
    expect(forks.filter((line) => !line.includes('CLONE_THREAD'))).toEqual([]);
    const written = lines.filter((line) =>
      /O_WRONLY|O_RDWR|O_CREAT|mkdir|rename|unlink/.test(line),
    );
    expect(written.filter((line) => !line.includes('"/dev/'))).toEqual([]);
    expect(scene.fake.calls()).toEqual([]);
    expect(scene.names()).toEqual([]);
  });

  test('it is the same with a program that is named', async () => {
    const scene = await makeScene();
    const named = await planOf(scene, ['--claude-bin', './no-claude']);
    expect(named.argv[0]).toBe('./no-claude');
    expect(named.warnings).toContain(
      `Cannot start the agent: ${join(scene.folder, 'no-claude')} is not there.`,
    );
    const command = await planOf(scene, ['--agent-command', 'no-such-agent exec -', '--', '--x']);
    expect(command.argv).toEqual(['no-such-agent', 'exec', '-', '--x']);
    expect(command.settings).toContainEqual({ name: 'agent', value: 'command', source: 'default' });
    expect(command.warnings).toHaveLength(1);
  });
});

describe('a plan that is not sound', () => {
  test.for([[[]], [['--json']]] as const)(
    'ends 2 and says everything that is wrong %j',
    async ([more]) => {
      const scene = await makeScene({ text: 'TASK_COMPLETE' });
      await scene.write('ralph.config.yaml', 'max_iteration: 3\n');
      const before = picture(scene.folder);
      const { exitCode, stdout, stderr } = await scene.run(
        ['--dry-run', '--max-iterations', 'abc', ...more],
        { env: { RALPH_DELAY: 'soon', RALPH_TASK_TYPE: 'coding', RALPH_NONSENSE_PLUGH: '1' } },
      );
      // By flag it has a delay, and the bad one is told nevertheless.
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr.trimEnd().split('\n')).toEqual([
        "ralph: --max-iterations expects a whole number, at least 1; found 'abc'.",
        "ralph: RALPH_DELAY expects a duration such as 500ms, 90s, 30m or 1h30m; found 'soon'.",
        'ralph: ralph.config.yaml:1 max_iteration is not a setting of ralph; did you mean max_iterations?',
        'ralph: ralph does not know the variable RALPH_NONSENSE_PLUGH',
      ]);
      expect(picture(scene.folder)).toEqual(before);
      expect(scene.fake.calls()).toEqual([]);
    },
  );
});

describe('the plan', () => {
  const OUTPUT = 'I have done the first half.\nThe second is left.';

  test.for<[string, readonly string[], readonly string[]]>([
    [
      'with everything that goes to claude',
      ['--model', 'opus', '--allowed-tools', 'Edit,Bash(npm test:*)', '--promise', 'ALL "DONE"'],
      ['--max-turns', '7', 'two words'],
    ],
    ['with a file to wait for', ['--watch-glob', 'out/*.md', '--permission-mode', 'plan'], []],
    ['in a session of its own', ['--session', 'continue'], []],
    ['without context', ['--context', 'none', '--dangerously-skip-permissions'], []],
  ])('is what is really done: %s', async ([, args, behind]) => {
    const scene = await makeScene({ text: OUTPUT });
    // With a byte order mark, no newline at the end, and marks that are nobody's.
    await scene.write('task.md', '\uFEFFFix it.\r\n\n  <promise>half</promise> § "x" \\');
    const words = [
      ...['run', '--prompt-file', 'task.md', '--task-id', 't', '--delay', '0', '-n', '2'],
      ...args,
    ];
    const plan = async () => {
      const { stdout } = await scene.ralph([...words, '--dry-run', '--json', '--', ...behind]);
      return JSON.parse(stdout);
    };
    const { argv, cwd, first_prompt, continuation_prompt, writes } = await plan();
    expect((await scene.ralph([...words, '--', ...behind])).exitCode).toBe(3);

    const [first, second] = scene.fake.calls();
    expect(argv).toEqual([scene.fake.path, ...(first?.argv ?? [])]);
    expect(second?.argv).toEqual(expect.arrayContaining([...(first?.argv ?? [])]));
    expect(cwd).toBe(first?.cwd);
    expect(scene.fake.stdinOf(1).equals(Buffer.from(first_prompt))).toBe(true);
    const continued = continuation_prompt.replace(/\(the output of .* iteration\)/, OUTPUT);
    expect(second?.stdin).toBe(continued);

    const notes = scene.notes().map(({ path }) => path);
    expect(notes).toHaveLength(1);
    const patterns = writes.map(({ path }: { path: string }) => path);
    for (const file of [...notes, first?.env.RALPH_STATE_FILE ?? '']) {
      expect(patterns.some((pattern: string) => covers(pattern, file))).toBe(true);
    }
  });

  test('holds every setting with where it comes from, as it would be in force', async () => {
    const scene = await makeScene();
    const file = join(scene.folder, 'ralph.config.yaml');
    await writeTrusted(file, 'timeout: 90m\nclaude_bin: /opt/claude\n', scene.home);
    const args = ['--task-type', 'weekly_audit', '--retries', '2'];
    const plan = await planOf(scene, args, { RALPH_MAX_WAIT: '0' });
    const settings = new Map<string, Json>(
      plan.settings.map(({ name, ...rest }: Json) => [name, rest]),
    );
    expect(settings.size).toBe(plan.settings.length);
    expect(Object.fromEntries(settings)).toMatchObject({
      prompt: { value: 'Fix it', source: '--prompt' },
      task_id: { value: 't', source: '--task-id' },
      retries: { value: 2, source: '--retries' },
      max_wait: { value: '0', source: 'RALPH_MAX_WAIT' },
      max_iterations: { value: 10, source: 'task type weekly_audit' },
      timeout: { value: '30m', source: 'task type weekly_audit' },
      agent_bin: { value: '/opt/claude', source: 'ralph.config.yaml:2 claude_bin' },
      promise: { value: 'TASK_COMPLETE', source: 'default' },
      vault: { value: scene.folder, source: 'default' },
    });
    expect(plan).toMatchObject({
      task_id: 't',
      task_type: 'weekly_audit',
      completion: "'<promise>TASK_COMPLETE</promise>' is satisfied",
      max_iterations: 10,
    });
    expect(plan.warnings).toEqual([
      `${file} sets agent_bin.`,
      expect.stringContaining('claude runs with its default permissions'),
      'Cannot start the agent: /opt/claude is not there.',
    ]);
  });

  test('counts the full iterations that fit into the whole task', async () => {
    // Between two iterations there is a pause, after the last there is none.
    const tasks: readonly (readonly [string, number])[] = [
      ['--timeout 30m --iteration-timeout 10m --delay 0', 3],
      ['--timeout 32s --iteration-timeout 10s --delay 1s', 3],
      ['--timeout 31999ms --iteration-timeout 10s --delay 1s', 2],
      ['--task-type coding --delay 2s', 15],
      ['--timeout 1m', 1],
    ];
    const scene = await makeScene();
    await Promise.all(
      tasks.map(async ([words, full_iterations]) => {
        expect(await planOf(scene, words.split(' '))).toMatchObject({ full_iterations });
      }),
    );
  });

  test('is shown to people with the same in it', async () => {
    const scene = await makeScene();
    const prompt = Array.from({ length: 100 }, (_, index) => `Line ${index + 1}.`).join('\n');
    const { exitCode, stdout } = await scene.ralph(
      ['run', '--task-id', 't', '--task-type', 'coding', '--dry-run', '--verbose', '-p', '-'],
      { input: `${prompt}\nTASK_COMPLETE\n`, env: { RALPH_DELAYS: '1s' } },
    );
    expect(exitCode).toBe(0);
    expect(stdout).toContain('The task t (type coding) would start. Nothing was started');
    expect(stdout).toContain('up to 30 iterations, or 15 if each takes its full time');
    expect(stdout).toContain('[… ');
    expect(stdout).toMatch(/^ {2}max_iterations +30 {2}\(task type coding\)$/m);
    const warnings = stdout.split(/\nWarnings:\n|\n\nDone when:/)[1] ?? '';
    expect(warnings).toMatch(/does not know the variable RALPH_DELAYS.*RALPH_DELAY\?/);
    expect(warnings).toMatch(/default permissions/);
    expect(warnings).toMatch(/prompt/);
    expect(warnings.trimEnd().split('\n')).toHaveLength(3);
  });

  test('is shown on one screen, with what is not a default', async () => {
    const scene = await makeScene();
    const checked = ['--verify', 'true', '--edit', '--task-type', 'coding'];
    const { stdout } = await scene.run(['--dry-run', ...checked]);
    expect(stdout.split('\n').length).toBeLessThanOrEqual(40);
    expect(stdout).toContain('claude may edit files');
    expect(stdout).toMatch(/^ {2}edit +true {2}\(--edit\)$/m);
    expect(stdout).not.toMatch(/\(default\)/);
    expect((await scene.run(['--dry-run', '--verbose'])).stdout).toMatch(/\(default\)$/m);
  });

  test('can be asked for by variable and by key', async () => {
    const scene = await makeScene({ text: 'TASK_COMPLETE' });
    const byVariable = await scene.run([], { env: { RALPH_DRY_RUN: 'true' } });
    await scene.write('ralph.config.yaml', 'dry_run: true\n');
    const byKey = await scene.run();
    for (const { exitCode, stdout } of [byVariable, byKey]) {
      expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
      expect(stdout).toMatch(/^The task t/);
    }
    expect(scene.fake.calls()).toEqual([]);
  });
});

/** Whether a path of the plan, which may hold stars, is that of a file. */
function covers(pattern: string, file: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]*')}`).test(file);
}
