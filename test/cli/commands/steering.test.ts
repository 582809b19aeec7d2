import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { pause } from '../../../src/cli/commands/pause.ts';
import { stopTask } from '../../../src/cli/commands/stop.ts';
import { tell } from '../../../src/cli/commands/tell.ts';
import { refuseInsideOwnLoop } from '../../../src/cli/tasks/find-task.ts';
import { stateJson } from '../../../src/core/task/state-json.ts';
import type { TaskState } from '../../../src/core/task/task-state.ts';
import { thisDriver } from '../../../src/effects/lock/driver-identity.ts';
import { watchRequests } from '../../../src/effects/state/requests.ts';
import { InsideLoopError, StateTooNewError, UsageError } from '../../../src/errors.ts';
import {
  InvalidStateError,
  StateCorruptedError,
  TaskNotFoundError,
} from '../../../src/task-errors.ts';
import { newTask } from '../../helpers/new-task.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { testSeal } from '../../helpers/test-seal.ts';

/** This very process plays the driver: it lives. */
const ALIVE = thisDriver(new Date().toISOString(), 'run-1');
const DEAD = { ...ALIVE, pid_started_at: '1' };

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** A vault with one task, `nightly`, and what the commands say of it. */
async function stage(changes: Partial<TaskState> = {}) {
  const vault = await tempFolder();
  const stateDir = join(vault, '.ralph_state');
  const stateFile = join(stateDir, 'nightly.json');
  const folder = join(stateDir, 'nightly');
  const write = async (more: Partial<TaskState>, file = stateFile) => {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, stateJson({ ...newTask(), task_id: 'nightly', ...changes, ...more }));
  };
  await write({});
  let said = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
  const requests = () => {
    const where = join(folder, 'requests');
    return existsSync(where) ? readdirSync(where) : [];
  };
  return {
    vault,
    options: { vault },
    stateDir,
    stateFile,
    folder,
    write,
    requests,
    said: () => said,
  };
}

const live = (changes: Partial<TaskState> = {}) =>
  stage({ status: 'running', driver: ALIVE, ...changes });

/** Answers the request to stop as a driver would. */
function answerStop(folder: string, answer: () => Promise<void>): void {
  const box = watchRequests(folder, testSeal(dirname(folder)), { pollMs: 20 });
  onTestFinished(() => box.close());
  void once(box.stop, 'abort').then(answer);
}

describe('ralph stop', () => {
  test('asks, waits until the driver has stopped, and says how to go on', async () => {
    const { options, folder, write, requests, said } = await live();
    answerStop(folder, () => write({ status: 'stopped', driver: null }));
    expect(await stopTask('nightly', options)).toBe(0);
    expect(said()).toBe('ralph: nightly is stopped\nralph: to continue: ralph resume nightly\n');
    expect(requests()).toEqual([]);
  });

  test('also stops a task that waits for an approval', async () => {
    const { options, folder, write } = await live({ status: 'paused_awaiting_approval' });
    answerStop(folder, () => write({ status: 'stopped', driver: null }));
    expect(await stopTask('nightly', options)).toBe(0);
  });

  test('says so if the task was completed meanwhile', async () => {
    const { options, stateDir, stateFile, folder, write, said } = await live();
    answerStop(folder, async () => {
      await write({ status: 'completed', driver: null });
      await mkdir(join(stateDir, 'history'));
      await rename(stateFile, join(stateDir, 'history', 'nightly.json'));
    });
    expect(await stopTask('nightly', options)).toBe(0);
    expect(said()).toMatch(/nightly was completed before the request reached it/);
  });

  test('says so if the driver died meanwhile', async () => {
    const { options, folder, write, said } = await live();
    answerStop(folder, () => write({ driver: DEAD }));
    expect(await stopTask('nightly', options)).toBe(0);
    expect(said()).toMatch(
      /the driver of nightly is dead.*\n.*to continue: ralph resume nightly\n$/,
    );
  });

  test('ignores an older task in the history if the state is deleted', async () => {
    const { options, stateDir, stateFile, folder, write, said } = await live();
    const started_at = '2025-01-01T00:00:00.000Z';
    await write({ status: 'completed', started_at }, join(stateDir, 'history', 'nightly.json'));
    answerStop(folder, async () => {
      await rename(stateFile, `${stateFile}.away`);
      setTimeout(() => void write({ status: 'stopped', driver: null }), 150);
    });
    expect(await stopTask('nightly', options)).toBe(0);
    expect(said()).toMatch(/nightly is stopped/);
  });

  test('names a driver that hangs, and how to end it; the request stays', async () => {
    const { options, requests, said } = await live();
    let ms = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => {
      ms += 10_001;
      return ms;
    });
    expect(await stopTask('nightly', options)).toBe(1);
    expect(said()).toContain(`(pid ${process.pid} on ${ALIVE.host})`);
    expect(said()).toMatch(
      new RegExp(`kill -KILL ${process.pid}; its guard then ends the agent\n$`),
    );
    expect(requests()).toEqual([expect.stringMatching(/^stop-/)]);
  });

  test('is refused inside its own loop', async () => {
    const { options, stateFile, requests } = await live();
    vi.stubEnv('RALPH_RUN_ID', 'run-1');
    vi.stubEnv('RALPH_STATE_FILE', stateFile);
    await expect(stopTask('nightly', options)).rejects.toThrow(InsideLoopError);
    expect(requests()).toEqual([]);
  });
});

describe('ralph pause', () => {
  test('asks, and does not wait', async () => {
    const { options, requests, said } = await live();
    expect(await pause('nightly', options)).toBe(0);
    expect(said()).toBe(
      'ralph: nightly pauses after its current iteration\nralph: to continue: ralph resume nightly\n',
    );
    expect(requests()).toEqual([expect.stringMatching(/^pause-/)]);
  });
});

describe.for([
  ['stop', stopTask],
  ['pause', pause],
] as const)('ralph %s of a task that does not run', ([, command]) => {
  test.for<[string, Partial<TaskState>, RegExp]>([
    [
      'interrupted',
      { status: 'running', driver: DEAD },
      /is interrupted\.\nto continue: ralph resume nightly$/,
    ],
    [
      'never driven',
      { status: 'pending', driver: null },
      /is interrupted\.\nto continue: ralph resume/,
    ],
    [
      'stopped',
      { status: 'stopped', driver: null },
      /is stopped\.\nto continue: ralph resume nightly/,
    ],
    [
      'ended by a driver that still is',
      { status: 'paused', driver: ALIVE },
      /is paused\.\nto continue: ralph/,
    ],
    ['held', { status: 'paused_awaiting_approval', driver: null }, /is paused_awaiting_approval\./],
    [
      'exhausted',
      { status: 'max_iterations_reached', driver: null },
      /nightly --max-iterations \+5/,
    ],
    ['completed', { status: 'completed', driver: null }, /is completed; it has ended/],
  ])('%s', async ([, changes, words]) => {
    const { options, requests } = await stage(changes);
    const asked = command('nightly', options);
    await expect(asked).rejects.toThrow(InvalidStateError);
    await expect(asked).rejects.toThrow(words);
    expect(requests()).toEqual([]);
  });
});

describe('ralph tell', () => {
  test('a running task: in its next iteration', async () => {
    const { options, folder, requests, said } = await live();
    expect(await tell('nightly', 'Use @tabs.', options)).toBe(0);
    expect(said()).toBe('ralph: the next iteration of nightly gets the hint\n');
    const [name = ''] = requests();
    expect(readFileSync(join(folder, 'requests', name), 'utf8')).toMatch(
      /^Use @tabs\.\n<!-- ralph: [\da-f]{64} -->\n$/,
    );
  });

  test.for<[string, Partial<TaskState>]>([
    ['interrupted', { status: 'running', driver: DEAD }],
    ['stopped', { status: 'stopped', driver: null }],
    ['paused', { status: 'paused', driver: null }],
    ['max_iterations_reached', { status: 'max_iterations_reached', driver: null }],
  ])('one that is %s: when it is resumed', async ([standing, changes]) => {
    const { options, requests, said } = await stage(changes);
    expect(await tell('nightly', 'Use tabs.', options)).toBe(0);
    expect(said()).toContain(
      `nightly is ${standing} and gets the hint when it is resumed: ralph resume nightly`,
    );
    expect(requests()).toHaveLength(1);
  });

  test('a task in the history: refused, and no file is written', async () => {
    const { options, stateDir, stateFile, write } = await stage();
    await write({ status: 'completed' }, join(stateDir, 'history', 'nightly.json'));
    await rename(stateFile, `${stateFile}.away`);
    await expect(tell('nightly', 'Use tabs.', options)).rejects.toThrow(InvalidStateError);
    expect(existsSync(join(stateDir, 'nightly'))).toBe(false);
  });

  test('no more than 64 KB', async () => {
    const { options, requests } = await live();
    const text = 'é'.repeat(32 * 1024);
    const words =
      'ralph tell expects a hint of at most 64 KB; found 65537 bytes. Put it into a file and name that file to the agent.';
    await expect(tell('nightly', `${text}x`, options)).rejects.toThrow(new UsageError([words]));
    expect(requests()).toEqual([]);
    expect(await tell('nightly', text, options)).toBe(0);
  });

  test('says so if the hint cannot be written', async () => {
    const { options, folder } = await live();
    await writeFile(folder, 'a file');
    await expect(tell('nightly', 'Use tabs.', options)).rejects.toThrow(
      /^The request could not be written to /,
    );
  });
});

describe('a task that', () => {
  test.for(['nobody', '../nightly', 'history', '', '-x'])('does not exist: %j', async (id) => {
    const { options } = await live();
    await expect(stopTask(id, options)).rejects.toThrow(TaskNotFoundError);
  });

  test.for([
    ['is no state', '{"half":', StateCorruptedError],
    ['a newer ralph wrote', '{"schema_version":999}', StateTooNewError],
  ] as const)('%s is said to be so', async ([, text, error]) => {
    const { options, stateFile } = await live();
    await writeFile(stateFile, text);
    await expect(pause('nightly', options)).rejects.toThrow(error);
  });
});

describe('inside a loop', () => {
  const refused = (env: NodeJS.ProcessEnv, stateFile = '/vault/.ralph_state/nightly.json') => {
    try {
      refuseInsideOwnLoop('stop', 'nightly', stateFile, env);
      return false;
    } catch (error) {
      expect(error).toBeInstanceOf(InsideLoopError);
      return true;
    }
  };

  test.for<[boolean, string, NodeJS.ProcessEnv]>([
    [true, 'its own state file', { RALPH_STATE_FILE: '/vault/.ralph_state/nightly.json' }],
    [true, 'its own id, and no state file', { RALPH_TASK_ID: 'nightly' }],
    [
      false,
      'another state file',
      { RALPH_STATE_FILE: '/other/nightly.json', RALPH_TASK_ID: 'nightly' },
    ],
    [false, 'another id', { RALPH_TASK_ID: 'daily' }],
  ])('refused: %j for %s', ([isRefused, , env]) => {
    expect(refused({ RALPH_RUN_ID: 'run-1', ...env })).toBe(isRefused);
    expect(refused(env)).toBe(false);
  });

  test('a link to the vault is the vault', async () => {
    const { vault, stateFile } = await stage();
    const link = join(await tempFolder(), 'link');
    await symlink(vault, link);
    const env = {
      RALPH_RUN_ID: 'run-1',
      RALPH_STATE_FILE: join(link, '.ralph_state/nightly.json'),
    };
    expect(refused(env, stateFile)).toBe(true);
  });
});
