import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { initialState } from '../../../src/core/machine/transition.ts';
import { newTaskState } from '../../../src/core/task/new-task.ts';
import { stateJson } from '../../../src/core/task/state-json.ts';
import {
  lastWorkAt,
  laterBy,
  msBetween,
  type TaskState,
} from '../../../src/core/task/task-state.ts';
import { archivePrevious } from '../../../src/effects/state/earlier-run.ts';
import { newestStep } from '../../../src/effects/state/saved-step.ts';
import { readNewestStep, readStateFile } from '../../../src/effects/state/state-file.ts';
import { createStateStore } from '../../../src/effects/state/state-store.ts';
import { type TaskPaths, taskPaths } from '../../../src/effects/state/task-folder.ts';
import { fileOf } from '../../../src/effects/trust/seal.ts';
import { messageOf, StateTooNewError } from '../../../src/errors.ts';
import { answered } from '../../helpers/attempt-facts.ts';
import { loopInHand } from '../../helpers/loop-in-hand.ts';
import { newTask } from '../../helpers/new-task.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { testSeal } from '../../helpers/test-seal.ts';

const STARTED = '2026-01-02T03:04:05.678Z';
/** That instant as it stands in a name. */
const IN_A_NAME = '2026-01-02T030405.678Z';

const FILES = {
  prompt: Buffer.from('Do \0it\r\n\xff', 'latin1'),
  settings: '{"settings":{}}\n',
  gitSetup: null,
  deciders: null,
  baseline: '{"watched":{}}\n',
};

const SUM = expect.stringMatching(/^[0-9a-f]{64}$/);

function loopState(change: Partial<TaskState> = {}) {
  const task = newTaskState(
    {
      task_id: 'T1',
      task_prompt: 'Do it.',
      prompt_sha256: '0'.repeat(64),
      task_type: 'default',
      completion_promise: 'DONE',
      match: 'statement',
      watch_glob: [],
      watch_file: null,
      done_folder: '/vault/Done',
      max_iterations: 5,
    },
    STARTED,
    60_000,
  );
  return initialState({ ...task, ...change });
}

async function stage(stateDir?: string) {
  const vault = await tempFolder();
  const paths = taskPaths(stateDir ?? join(vault, '.ralph_state'), 'T1');
  const warnings: string[] = [];
  const seal = testSeal(paths.stateDir);
  /** What the clock shows. */
  const shown = { monotonicMs: 0, heldUpMs: 0 };
  const open = () =>
    createStateStore({
      paths,
      seal,
      clock: { monotonicMs: () => shown.monotonicMs, heldUpMs: () => shown.heldUpMs },
      task: loopState().task,
      files: FILES,
      warn: (sentence) => warnings.push(sentence),
      onFailure: (error) => warnings.push(`not kept: ${messageOf(error)}`),
    });
  return { vault, paths, warnings, open, seal, shown };
}

function readState(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** A task's state as it stands in its file. */
function stateOf(change: Partial<TaskState>): string {
  return stateJson(loopState(change).task);
}

/** Everything below a folder, sorted. */
function tree(folder: string): string[] {
  return readdirSync(folder, { recursive: true }).map(String).sort();
}

async function putTask(paths: TaskPaths, state: string, log = 'a log'): Promise<void> {
  await mkdir(paths.folder, { recursive: true });
  await writeFile(paths.stateFile, state);
  await writeFile(join(paths.folder, 'iteration-0001.stdout.log'), log);
}

describe('a beat', () => {
  const DRIVER = {
    pid: 1,
    pid_started_at: STARTED,
    boot_id: 'boot-1',
    host: 'host-1',
    pid_namespace: '',
    run_id: 'run-1',
    beat_at: STARTED,
  };
  const HOUR_MS = 3_600_000;

  /** A store whose task was saved once; `pass` lets time go by on all its clocks, `asleepMs` on the wall's alone. */
  async function beating(change: Partial<TaskState> = {}) {
    const { paths, open, shown } = await stage();
    const store = await open();
    let at = STARTED;
    const state = loopState({ status: 'running', driver: DRIVER, ...change });
    await store.save(state, []);
    const kept = () => {
      const file = readStateFile(paths.stateFile);
      if (file.kind !== 'task') throw new Error('there is no state');
      const { timeout_at, driver } = file.state;
      return {
        movedMs: msBetween(state.task.timeout_at, timeout_at),
        beatMs: msBetween(STARTED, driver?.beat_at ?? ''),
        leftMs: msBetween(lastWorkAt(file.state), timeout_at),
      };
    };
    return {
      store,
      state,
      kept,
      now: () => at,
      pass(ms: number, { asleepMs = 0, heldUpMs = 0 } = {}) {
        at = laterBy(at, ms + asleepMs + heldUpMs);
        shown.monotonicMs += ms + heldUpMs;
        shown.heldUpMs += heldUpMs;
      },
      beat: () => store.heartbeat(at),
    };
  }

  test('is newer, and takes nothing off the time that was worked', async () => {
    const { pass, beat, kept } = await beating();
    pass(15_000);
    await beat();
    expect(kept()).toEqual({ movedMs: 0, beatMs: 15_000, leftMs: 45_000 });
  });

  test.for([
    ['the machine slept', { asleepMs: HOUR_MS }],
    ['ralph was stopped', { heldUpMs: HOUR_MS }],
    ['the clock was set back', { asleepMs: -10_000 }],
  ] as const)('leaves the task the time that it had where %s', async ([, lost]) => {
    const { pass, beat, kept } = await beating();
    pass(15_000);
    await beat();
    pass(5_000, lost);
    await beat();
    expect(kept().leftMs).toBe(40_000);
    // It is taken off once, however often it beats after.
    pass(5_000);
    await beat();
    expect(kept().leftMs).toBe(35_000);
  });

  test('leaves it the time that it had where the clock was set back by days', async () => {
    const { pass, beat, kept } = await beating();
    pass(5_000, { asleepMs: -48 * HOUR_MS });
    await beat();
    expect(kept()).toMatchObject({ movedMs: 0, leftMs: 60_000 });
  });

  test.for<[string, Partial<TaskState>]>([
    ['a usage limit', { wait: { kind: 'usage-limit', until: '2026-01-03T03:04:05.678Z' } }],
    ['a person', { paused_for_approval: true }],
  ])(
    'gives no time to a task that waits for %s: none of the wait is its own',
    async ([, change]) => {
      const { pass, beat, kept } = await beating(change);
      pass(15_000, { asleepMs: HOUR_MS, heldUpMs: HOUR_MS });
      await beat();
      expect(kept()).toMatchObject({ movedMs: 0, leftMs: 60_000 });
    },
  );

  test('leaves what the loop saves next as the loop knows it', async () => {
    const { store, state, now, pass, beat, kept } = await beating();
    pass(15_000, { asleepMs: HOUR_MS, heldUpMs: HOUR_MS });
    await beat();
    expect(kept().movedMs).toBe(2 * HOUR_MS);
    const moved = { ...state.task, timeout_at: laterBy(state.task.timeout_at, 5 * HOUR_MS) };
    await store.save({ ...state, task: { ...moved, updated_at: now() } }, []);
    pass(15_000);
    await beat();
    expect(kept().movedMs).toBe(5 * HOUR_MS);
  });

  test('is not undone by a save', async () => {
    const { store, state, now, pass, beat, kept } = await beating();
    pass(15_000);
    await beat();
    pass(1_000);
    await store.save({ ...state, task: { ...state.task, updated_at: now() } }, []);
    expect(kept().beatMs).toBe(16_000);
  });
});

describe('the state on disk', () => {
  test('is one file, and beside it what does not change, byte for byte', async () => {
    const { paths, warnings, open, seal } = await stage();
    const store = await open();
    await store.save(loopState(), []);
    expect(tree(paths.stateDir)).toEqual([
      '.gitignore',
      'T1',
      'T1.json',
      'T1/baseline.json',
      'T1/memory-1.json',
      'T1/memory-2.json',
      'T1/prompt.md',
      'T1/requests',
      'T1/settings.json',
    ]);
    expect(readFileSync(join(paths.folder, 'prompt.md')).equals(FILES.prompt)).toBe(true);
    const task = loopState().task;
    for (const kind of ['settings', 'baseline'] as const) {
      const text = readFileSync(join(paths.folder, `${kind}.json`), 'utf8');
      expect(text).toBe(seal.close(FILES[kind], fileOf(kind, task)));
    }
    expect(readState(paths.stateFile)).toEqual({
      ...task,
      memory: 'memory-1.json',
      save: 1,
      sum: SUM,
    });
    expect(readStateFile(paths.stateFile, seal)).toMatchObject({ kind: 'task', isOwn: true });
    expect(store.places()).toEqual({ stateFile: paths.stateFile, logDir: paths.folder });
    expect(warnings).toEqual([]);
  });

  test('is for its owner alone, and hides from git', async () => {
    const { paths, open } = await stage();
    await (await open()).save(loopState(), []);
    const mode = (file: string) => (statSync(file).mode & 0o777).toString(8);
    expect([paths.stateDir, paths.folder].map(mode)).toEqual(['700', '700']);
    const files = tree(paths.stateDir).map((name) => join(paths.stateDir, name));
    const plain = files.filter((file) => statSync(file).isFile());
    expect(plain.map(mode)).toEqual(plain.map(() => '600'));
    expect(readFileSync(join(paths.stateDir, '.gitignore'), 'utf8')).toBe('*\n');
  });

  test('is for its owner alone also in a folder that others had made for all', async () => {
    const { paths, open } = await stage();
    await mkdir(paths.stateDir, { mode: 0o755 });
    await (await open()).save(loopState(), []);
    expect(statSync(paths.stateFile).mode & 0o777).toBe(0o600);
    expect(statSync(paths.folder).mode & 0o777).toBe(0o700);
  });

  test('fills the .gitignore that a power cut left empty', async () => {
    const { paths, open } = await stage();
    await mkdir(paths.stateDir);
    await writeFile(join(paths.stateDir, '.gitignore'), '');
    await open();
    expect(readFileSync(join(paths.stateDir, '.gitignore'), 'utf8')).toBe('*\n');
  });

  test("leaves a user's own .gitignore alone", async () => {
    const { paths, open } = await stage();
    await mkdir(paths.stateDir);
    await writeFile(join(paths.stateDir, '.gitignore'), '!*.md\n');
    await open();
    expect(readFileSync(join(paths.stateDir, '.gitignore'), 'utf8')).toBe('!*.md\n');
  });

  test('is written whole each time: no reader sees half of it, and no litter stays', async () => {
    const { paths, open } = await stage();
    const store = await open();
    await store.save(loopState({ current_iteration: 0 }), []);
    const long = 'x'.repeat(10_000);
    let writing = true;
    const writer = (async () => {
      for (let n = 1; n <= 30; n += 1) {
        await store.save(loopState({ current_iteration: n, task_prompt: long.slice(n * 300) }), []);
      }
      writing = false;
    })();
    let seen = 0;
    while (writing) {
      const { current_iteration: now } = readState(paths.stateFile) as TaskState;
      expect(now).toBeGreaterThanOrEqual(seen);
      seen = now;
      await new Promise(setImmediate);
    }
    await writer;
    expect(readdirSync(paths.stateDir).sort()).toEqual(['.gitignore', 'T1', 'T1.json']);
  });
});

describe('a disk that is against it', () => {
  test('is said once, in one sentence, and nothing throws', async () => {
    const { vault, warnings, open, paths } = await stage();
    await writeFile(join(vault, '.ralph_state'), 'in the way');
    const store = await open();
    await store.save(loopState(), []);
    await store.save(loopState(), []);
    await store.archive();
    expect(warnings).toEqual([expect.stringMatching(/^not kept: /)]);
    expect(store.places().stateFile).toBe(paths.stateFile);
  });

  test('is tried again at every save: once it is well again, all is there', async () => {
    const { vault, warnings, open, paths } = await stage();
    await writeFile(join(vault, '.ralph_state'), 'in the way');
    const store = await open();
    await rm(join(vault, '.ralph_state'));
    await store.save(loopState(), []);
    expect(readState(paths.stateFile)).toMatchObject({ task_id: 'T1' });
    expect(readFileSync(join(paths.folder, 'prompt.md')).equals(FILES.prompt)).toBe(true);
    expect(warnings).toHaveLength(1);
  });

  test('keeps the last state whole, and no litter, when a save fails', async () => {
    const { paths, warnings, open } = await stage();
    const store = await open();
    const before = tree(paths.stateDir);
    // A folder under the state's own name: the rename over it cannot succeed.
    await mkdir(join(paths.stateFile, 'sub'), { recursive: true });
    await store.save(loopState(), []);
    expect(warnings).toHaveLength(1);
    expect(tree(paths.stateDir)).toEqual(
      [...before, 'T1.json', 'T1.json/sub', 'T1/memory-1.json'].sort(),
    );
  });

  test('makes folders anew that were deleted under the running loop', async () => {
    const { paths, warnings, open } = await stage();
    const store = await open();
    await store.save(loopState(), []);
    await rm(paths.stateDir, { recursive: true });
    await store.save(loopState({ current_iteration: 3 }), []);
    expect(readState(paths.stateFile)).toMatchObject({ current_iteration: 3 });
    expect(tree(paths.stateDir)).toContain('T1/prompt.md');
    expect(statSync(paths.stateDir).mode & 0o777).toBe(0o700);
    expect(warnings).toEqual([]);
  });

  test('makes the task folder anew, too: without its prompt no resume could go on', async () => {
    const { paths, open } = await stage();
    const store = await open();
    await rm(paths.folder, { recursive: true });
    await store.save(loopState(), []);
    expect(tree(paths.stateDir)).toContain('T1/prompt.md');
  });
});

describe('a step', () => {
  const escaped = (mb: number) => '\u0001'.repeat(mb * 2 ** 20);

  test('that is as long as it can be is read again', async () => {
    const { paths, open, seal, warnings } = await stage();
    const store = await open();
    const [message, hints] = [escaped(1), [{ text: escaped(1), isProven: true }]];
    const loop = loopInHand({ watchGlobs: ['*.txt'] });
    loop.start();
    const { state } = loop.iterate(answered(message));
    const carry = { ...state.carry, output: message, hints };
    await store.save({ ...state, task: loopState().task, hints, carry }, []);
    expect(warnings).toEqual([]);
    const step = newestStep(paths.folder, 'T1', seal);
    expect(step?.memory.carry.output === message).toBe(true);
  });

  test('that would not be read again is not written: the one before stays', async () => {
    const { paths, open, seal, warnings } = await stage();
    const store = await open();
    await store.save(loopState(), []);
    await store.save({ ...loopState(), finalMessage: escaped(11) }, []);
    expect(warnings).toEqual([expect.stringMatching(/^not kept: the step takes/)]);
    expect(newestStep(paths.folder, 'T1', seal)?.task.save).toBe(1);
  });
});

describe('a state that names no memory', () => {
  test('is newer than all steps, since a full disk had room for no more', async () => {
    const { paths, open, seal } = await stage();
    const store = await open();
    await store.save(loopState({ status: 'running' }), []);
    const { task } = loopState({ status: 'stalled', memory: null, save: 2 });
    expect(readNewestStep(paths, task, seal)).toEqual({ state: task, step: null });
  });
});

describe('the driver', () => {
  const { driver } = newTask();

  test('is gone once the end has been told', async () => {
    const { paths, open } = await stage();
    const store = await open();
    await store.save(loopState({ status: 'stalled', finished_at: STARTED, driver }), []);
    expect(readState(paths.stateFile)).toMatchObject({ driver: { run_id: driver?.run_id } });
    await store.published();
    expect(readState(paths.stateFile)).toMatchObject({ status: 'stalled', driver: null });
  });
});

describe('a completed task', () => {
  test('moves to the history, logs and all', async () => {
    const { paths, open, warnings } = await stage();
    const store = await open();
    await store.save(loopState({ status: 'completed' }), []);
    await writeFile(join(paths.folder, 'iteration-0001.stdout.log'), 'a log');
    await store.archive();
    // Whoever dies before the end is told must be able to tell it.
    expect(readdirSync(join(paths.history, 'T1'))).toContain('memory-1.json');
    await store.published();
    expect(readdirSync(paths.stateDir).sort()).toEqual(['.gitignore', 'history']);
    const stateFile = join(paths.history, 'T1.json');
    const logDir = join(paths.history, 'T1');
    expect(store.places()).toEqual({ stateFile, logDir });
    expect(readState(stateFile)).toMatchObject({ status: 'completed' });
    expect(readdirSync(logDir).sort()).toEqual([
      'baseline.json',
      'iteration-0001.stdout.log',
      'prompt.md',
      'settings.json',
    ]);
    expect(statSync(paths.history).mode & 0o777).toBe(0o700);
    expect(warnings).toEqual([]);
  });

  test('leaves one of the same name its place, under its start time', async () => {
    const { paths, open } = await stage();
    for (const [n, at] of [
      '2025-01-01T00:00:00.000Z',
      STARTED,
      '2026-06-06T06:06:06.006Z',
    ].entries()) {
      const store = await open();
      await store.save(loopState({ started_at: at, current_iteration: n }), []);
      await store.archive();
    }
    expect(readdirSync(paths.history).sort()).toEqual([
      'T1',
      'T1.2025-01-01T000000.000Z',
      'T1.2025-01-01T000000.000Z.json',
      `T1.${IN_A_NAME}`,
      `T1.${IN_A_NAME}.json`,
      'T1.json',
    ]);
    const kept = (name: string) => readState(join(paths.history, `${name}.json`));
    expect(kept('T1')).toMatchObject({ current_iteration: 2 });
    expect(kept(`T1.${IN_A_NAME}`)).toMatchObject({ current_iteration: 1 });
  });
});

describe('a task of the same id from before', () => {
  test('is not there: nothing is done, and no folder made', async () => {
    const { paths, vault } = await stage();
    expect(archivePrevious(paths)).toBe(false);
    expect(readdirSync(vault)).toEqual([]);
  });

  test('goes to the history under its start time, logs and all', async () => {
    const { paths } = await stage();
    await putTask(paths, stateOf({}));
    expect(archivePrevious(paths)).toBe(true);
    expect(tree(paths.stateDir)).toEqual([
      'history',
      `history/T1.${IN_A_NAME}`,
      `history/T1.${IN_A_NAME}.json`,
      `history/T1.${IN_A_NAME}/iteration-0001.stdout.log`,
    ]);
  });

  test('goes there also where only its folder is left', async () => {
    const { paths } = await stage();
    await mkdir(paths.folder, { recursive: true });
    // Its driver died before anything had begun.
    expect(archivePrevious(paths)).toBe(false);
    await writeFile(join(paths.folder, 'iteration-0001.stdout.log'), 'a log');
    expect(archivePrevious(paths)).toBe(true);
    expect(readdirSync(paths.stateDir)).toEqual(['history']);
    expect(readdirSync(paths.history)).toEqual([expect.stringMatching(/^T1\.\d{4}-\d\d-\d\dT/)]);
  });

  test('never lands on one that is there already', async () => {
    const { paths } = await stage();
    for (const log of ['first', 'second', 'third']) {
      await putTask(paths, stateOf({}), log);
      expect(archivePrevious(paths)).toBe(true);
    }
    const logs = tree(paths.history).filter((name) => name.endsWith('.log'));
    expect(logs.map((name) => readFileSync(join(paths.history, name), 'utf8')).sort()).toEqual([
      'first',
      'second',
      'third',
    ]);
    expect(readdirSync(paths.history).filter((name) => name.endsWith('.json'))).toHaveLength(3);
    expect(readdirSync(paths.stateDir)).toEqual(['history']);
  });

  test('cannot lead out of the history by what its state says', async () => {
    const { paths, vault } = await stage();
    await putTask(paths, stateOf({ started_at: '../../../../evil/..' }));
    expect(archivePrevious(paths)).toBe(true);
    expect(readdirSync(vault)).toEqual(['.ralph_state']);
    expect(readdirSync(paths.stateDir)).not.toContain('T1.json');
    expect(tree(paths.stateDir).filter((name) => name.endsWith('.log'))).toHaveLength(1);
  });

  test('with a start time that is no name for a file is kept as well', async () => {
    const { paths } = await stage();
    await putTask(paths, stateOf({ started_at: '9'.repeat(10_000) }));
    expect(archivePrevious(paths)).toBe(true);
    expect(readdirSync(paths.stateDir)).not.toContain('T1.json');
    expect(tree(paths.stateDir).filter((name) => name.endsWith('.log'))).toHaveLength(1);
  });

  test.for([
    ['cut off in the middle', '{"schema_version": 1, "started_at": "20'],
    ['empty', ''],
    ['no JSON', '\0\0\0'],
    ['an array', '[]'],
    ['null', 'null'],
    ['of another shape', '{"started_at": 5}'],
  ] as const)(
    'with a corrupt state (%s) is kept aside under a name that says so',
    async ([, text]) => {
      const { paths } = await stage();
      await putTask(paths, text);
      await utimes(paths.stateFile, 1_700_000_000, 1_700_000_000);
      expect(archivePrevious(paths)).toBe(true);
      const everywhere = tree(paths.stateDir);
      const aside = everywhere.filter((name) => /T1\.json\.corrupt-/.test(name));
      expect(aside, everywhere.join(' ')).toHaveLength(1);
      expect(readFileSync(join(paths.stateDir, aside[0] ?? ''), 'utf8')).toBe(text);
      expect(everywhere).not.toContain('T1.json');
      expect(everywhere).not.toContain('T1');
      // Nothing is lost of it.
      const logs = everywhere.filter((name) => name.endsWith('iteration-0001.stdout.log'));
      expect(logs).toHaveLength(1);
    },
  );

  test('of a newer schema is not moved', async () => {
    const { paths } = await stage();
    await putTask(paths, stateOf({ schema_version: 99 }));
    expect(() => archivePrevious(paths)).toThrow(StateTooNewError);
    expect(tree(paths.stateDir)).toEqual(['T1', 'T1.json', 'T1/iteration-0001.stdout.log']);
  });
});
