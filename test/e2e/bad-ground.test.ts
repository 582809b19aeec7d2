import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { fixture } from '../helpers/processes.ts';
import { jsonLines, makeScene, type Scene } from '../helpers/scene.ts';

// Disks that are full, folders that go away, files that others write: the loop goes on as long as it can.

const WORKING: Turn = { text: 'Not yet.' };
const DONE: Turn = { text: 'Done.\n\nTASK_COMPLETE' };
const RUN = ['run', '--prompt', 'Fix it', '--task-id', 't', '--delay', '0'] as const;
const COMPLETED = { exitCode: 0, stdout: `${DONE.text}\n` };
const NOT_KEPT = /The state cannot be kept/g;

const canMount = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

/** Runs ralph where `setUp` has put something onto the folder `vault`, $v, that nobody else sees. */
function onGround(scene: Scene, setUp: string, args: readonly string[] = []) {
  const vault = join(scene.folder, 'vault');
  mkdirSync(vault);
  const script = `set -e; v=$1; shift; ${setUp}; exec ralph "$@"`;
  const words = [...RUN, '--vault', vault, ...args];
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['-m', '/bin/sh', '-c', script, 'sh', vault, ...words],
    { cwd: scene.folder, env: { ...scene.env }, encoding: 'utf8', timeout: PATIENCE_MS },
  );
  return { exitCode: status, stdout, stderr };
}

const TMPFS = 'mount -t tmpfs -o size=64k none "$v"';
/** Runs ralph, and then copies its state from the disk that nobody else sees. */
const COPY = 'mkdir "$PWD/kept"; trap \'cp -R "$v/.ralph_state" kept\' EXIT; ralph "$@"; exit';
const FILL = 'head -c 100000 /dev/zero > "$v/fill" 2> /dev/null || :';
const READ_ONLY = 'mount --bind "$v" "$v"; mount -o remount,bind,ro "$v"';

describe.runIf(canMount)('the vault', () => {
  test.for([
    ['a full disk of 64 KB', `${TMPFS}; ${FILL}`],
    ['read-only', READ_ONLY],
  ])(
    '%j: the loop completes, and says exactly once that nothing is kept',
    async ([, setUp = '']) => {
      const scene = await makeScene([WORKING, WORKING, DONE]);
      const { stderr, ...end } = onGround(scene, setUp);
      expect(end).toEqual(COMPLETED);
      expect(stderr.match(NOT_KEPT)).toHaveLength(1);
      expect(stderr).toContain('cannot be resumed');
      expect(stderr.match(/Cannot write events to/g)).toHaveLength(1);
      expect(scene.fake.calls()).toHaveLength(3);
      expect(scene.prompt(2)).toContain('Not yet.');
    },
  );

  const FILL_IT = 'head -c 100000 /dev/zero > vault/fill || :';
  const NO_NAME_LEFT = 'i=0; while : > vault/$i; do i=$((i + 1)); done 2> /dev/null; :';
  const FEW_NAMES = 'mount -t tmpfs -o size=1m,nr_inodes=60 none "$v"';

  test.for([
    ['no byte', TMPFS, FILL_IT],
    ['no file', FEW_NAMES, NO_NAME_LEFT],
  ])(
    'a disk with room for %s more in the only iteration: how the task ended is kept, in one place',
    async ([, disk = '', shell = '']) => {
      const scene = await makeScene({ ...DONE, shell });
      expect(onGround(scene, `${disk}; ${COPY}`)).toMatchObject(COMPLETED);
      const files = readdirSync(join(scene.folder, 'kept/.ralph_state'), { recursive: true });
      expect(files.filter((file) => /(?:t|memory.*)\.json$/.test(String(file)))).toEqual([
        'history/t.json',
      ]);
      const state = JSON.parse(scene.read('kept/.ralph_state/history/t.json'));
      expect(state).toMatchObject({ status: 'completed', metrics: { iterations: 1 } });
    },
  );

  test('a disk that gets full, and a task that is not completed: resume goes on from its end', async () => {
    const turns = [WORKING, { ...WORKING, shell: FILL_IT }, DONE];
    const scene = await makeScene(turns.map((turn) => ({ ...turn, costUsd: 1 })));
    const goOn = 'rm "$v/fill"; set -- resume t --vault "$v" --max-iterations +1';
    const [status, then] = [
      'ralph status t --vault "$v" --json > "$v/../status"',
      `${goOn}; ${COPY}`,
    ];
    const script = `${TMPFS}; ralph "$@" && exit 9; ${status}; ${then}`;
    expect(onGround(scene, script, ['-n', '2'])).toMatchObject(COMPLETED);
    const ended = { status: 'max_iterations_reached', driver: null };
    expect(JSON.parse(scene.read('status'))).toMatchObject(ended);
    const state = JSON.parse(scene.read('kept/.ralph_state/history/t.json'));
    expect(state).toMatchObject({ metrics: { iterations: 3 }, usage: { cost_usd: 3 } });
  });

  test('a disk that has room again: kept from then on', async () => {
    const scene = await makeScene([WORKING, { ...WORKING, shell: 'rm vault/fill' }, DONE]);
    const { exitCode, stderr } = onGround(scene, `${TMPFS}; ${FILL}; ${COPY}`);
    expect(exitCode).toBe(0);
    expect(stderr.match(NOT_KEPT)).toHaveLength(1);
    const state = JSON.parse(scene.read('kept/.ralph_state/history/t.json'));
    expect(state).toMatchObject({ status: 'completed', metrics: { iterations: 3 } });
    // Nothing that could not be written meanwhile is missing in the journal, and no line of it is torn.
    const events = jsonLines(scene.read('kept/.ralph_state/events.jsonl'));
    const names = events.map(({ event }) => event).filter((name) => name.startsWith('task_'));
    const iterated = Array(3).fill('task_iterated');
    expect(names).toEqual(['task_started', ...iterated, 'task_completed']);
    expect(stderr.match(/Cannot write events to/g)).toHaveLength(1);
  });

  test('read-only, and not completed: the exit code is the same, the missing note is said', async () => {
    const scene = await makeScene([WORKING]);
    const { exitCode, stderr } = onGround(scene, READ_ONLY, ['-n', '1']);
    expect(exitCode).toBe(3);
    expect(stderr.match(NOT_KEPT)).toHaveLength(1);
    expect(stderr.match(/note for a human could not be written/g)).toHaveLength(1);
  });
});

describe('while the loop runs', () => {
  test('the agent deletes the state folder: it is made anew', async () => {
    const scene = await makeScene([{ ...WORKING, shell: 'rm -rf .ralph_state' }, DONE]);
    const { stderr, ...end } = await scene.run();
    expect(end).toMatchObject(COMPLETED);
    expect(stderr).not.toMatch(NOT_KEPT);
    expect(scene.state()).toMatchObject({ status: 'completed', metrics: { iterations: 2 } });
    expect(scene.read('.ralph_state/history/t/prompt.md')).toBe('Fix it');
    expect(scene.read('.ralph_state/history/t/iteration-0002.stdout.log')).toContain('Done.');
    expect(scene.names('.ralph_state')).not.toContain('locks');
    expect(scene.journal().at(-1)).toMatchObject({ event: 'task_completed' });
  });

  test('the agent deletes it, and the driver dies: resume goes on', async () => {
    const scene = await makeScene([{ ...WORKING, shell: 'rm -rf .ralph_state' }, WORKING, DONE]);
    expect(await scene.run(['-n', '2'])).toMatchObject({ exitCode: 3 });
    expect(await scene.ralph(['resume', 't', '-n', '+1'])).toMatchObject(COMPLETED);
    expect(scene.state()).toMatchObject({ metrics: { iterations: 3 } });
  });

  test.for([
    ['changed', `sed -i 's/"running"/"completed"/' .ralph_state/t.json`],
    ['made nonsense', 'echo nonsense > .ralph_state/t.json'],
    ['replaced by another', 'echo "{}" > x; mv x .ralph_state/t.json'],
  ])('the state is %s from outside: overwritten, and said', async ([, shell = '']) => {
    const scene = await makeScene([{ ...WORKING, shell }, DONE]);
    const { stderr, ...end } = await scene.run();
    expect(end).toMatchObject(COMPLETED);
    expect(stderr.match(/t\.json was edited during the run/g)).toHaveLength(1);
    expect(scene.state()).toMatchObject({ status: 'completed', metrics: { iterations: 2 } });
  });

  test('the clock jumps back by an hour and forth by a day: it goes on to its end', async () => {
    const jump = (ms: number): Turn => ({ ...WORKING, shell: `echo ${ms} > ../bin/jump` });
    const scene = await makeScene([jump(-3_600_000), jump(86_400_000), jump(0), DONE]);
    const options = { env: { NODE_OPTIONS: `--require ${fixture('jumping-clock.cjs')}` } };
    expect(await scene.run(['--timeout', '7d'], options)).toMatchObject(COMPLETED);
    const { iterations, metrics } = scene.state();
    expect(iterations).toHaveLength(4);
    expect(metrics.total_duration_seconds).toBeGreaterThanOrEqual(0);
    expect(
      Math.min(...iterations.map((each: { duration_ms: number }) => each.duration_ms)),
    ).toBeGreaterThanOrEqual(0);
  });
});

describe('what lies there already', () => {
  test('a torn line at the end of the journal: it swallows nothing of the next task', async () => {
    const scene = await makeScene([DONE]);
    const torn = '{"event":"task_iterated","at":"2026-01-05T10:0';
    await scene.write('.ralph_state/events.jsonl', torn);
    expect(await scene.run()).toMatchObject(COMPLETED);
    const [first, ...lines] = scene.read('.ralph_state/events.jsonl').split('\n');
    expect(first).toBe(torn);
    expect(jsonLines(lines.join('\n'))[0]).toMatchObject({ event: 'task_started', task_id: 't' });
    await scene.ralph(['report', '--html', 'report.html']);
    expect(scene.read('report.html')).toContain('<span>started</span>');
  });

  test('a corrupt state: run keeps it aside and starts afresh', async () => {
    const scene = await makeScene([DONE]);
    await scene.write('.ralph_state/t.json', '{"half":');
    const { stderr, ...end } = await scene.run();
    expect(end).toMatchObject(COMPLETED);
    expect(stderr).not.toMatch(/\n\s+at /);
    const [aside = ''] = scene.names('.ralph_state').filter((name) => name.includes('corrupt'));
    expect(scene.read(`.ralph_state/${aside}`)).toBe('{"half":');
  });

  test.for(['t', 'history', 'locks', 'locks/t', 't/requests', 'events.jsonl', 't.json'])(
    'a link out of the vault, %s: nothing is written behind it',
    async (name) => {
      const scene = await makeScene([WORKING, DONE]);
      const outside = join(scene.folder, '../outside');
      mkdirSync(outside);
      writeFileSync(join(outside, 'file'), 'theirs');
      const isFile = name.endsWith('.json') || name.endsWith('.jsonl');
      mkdirSync(join(scene.folder, '.ralph_state', name, '..'), { recursive: true });
      symlinkSync(
        isFile ? join(outside, 'file') : outside,
        join(scene.folder, '.ralph_state', name),
      );
      const { exitCode, stderr } = await scene.run();
      expect([0, 2]).toContain(exitCode);
      expect(stderr).not.toContain('bug in ralph');
      expect(readdirSync(outside)).toEqual(['file']);
      expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('theirs');
    },
  );

  test.for(['../t', '..', '.hidden', 'a/b', '-x', ''])('the id %j is none', async (id) => {
    const scene = await makeScene([]);
    const run = await scene.ralph(['run', '-p', 'x', `--task-id=${id}`]);
    expect(run.exitCode).toBe(2);
    for (const command of ['status', 'logs', 'stop', 'pause', 'resume']) {
      const { exitCode, stderr } = await scene.ralph([
        command,
        ...(id.startsWith('-') && command !== 'resume' ? ['--'] : []),
        id,
      ]);
      expect({ command, exitCode: exitCode === 0 || exitCode === 70, stderr }).toMatchObject({
        exitCode: false,
      });
    }
    expect(scene.names()).toEqual([]);
    expect(scene.names('..')).not.toContain('.ralph_state');
  });
});
