import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeScene, type Scene } from '../helpers/scene.ts';

// Where settings come from, as the built command shows it. Every single one: test/cli/settings.test.ts.

const DONE = { text: 'Done.\n\nTASK_COMPLETE' };
const RUN = ['run', '--prompt', 'Fix it', '--task-id', 't'];
const CONFIG = 'ralph.config.yaml';

/** Expects a usage error that started and left nothing; gives the lines of it. */
async function refusal(
  args: readonly string[],
  { env = {}, config }: { env?: Readonly<Record<string, string>>; config?: string },
): Promise<readonly string[]> {
  const scene = await makeScene(DONE);
  if (config !== undefined) await scene.write(CONFIG, config);
  const { exitCode, stdout, stderr } = await scene.ralph([...RUN, ...args], { env });
  expect({ exitCode, stdout, stderr }).toMatchObject({ exitCode: 2, stdout: '' });
  expect(scene.fake.calls()).toEqual([]);
  expect(scene.names()).toEqual(config === undefined ? [] : [CONFIG]);
  return stderr.trimEnd().split('\n');
}

/** What lies beside the state of a completed task. */
function keptSettings(scene: Scene, stateDir = '.ralph_state') {
  return JSON.parse(scene.read(`${stateDir}/history/t/settings.json`)).settings;
}

test('each place has its say in its turn, and settings.json remembers which', async () => {
  const scene = await makeScene([{ text: 'DONE NOW' }]);
  await scene.write(
    CONFIG,
    'max_iterations: 9\niteration_timeout: 9m\nretries: 9\nmodel: haiku\ncontext_chars: 9000\n',
  );
  const { exitCode, stderr } = await scene.ralph(
    ['run', '--task-id', 't', '--model', 'opus', '--task-type', 'weekly_audit'],
    {
      env: {
        RALPH_PROMPT: 'Fix it',
        RALPH_PROMISE: 'DONE NOW',
        RALPH_STATE_DIR: 'Ralph_State',
        RALPH_DONE_FOLDER: '/Vault/Done',
        RALPH_MODEL: 'sonnet',
        RALPH_TIMEOUT_MINUTES: '45',
        RALPH_RETRIES: '2',
      },
    },
  );
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(/up to 10 iterations of 3m, 45m in all; .*DONE NOW/);
  expect(scene.fake.calls()[0]?.argv.join(' ')).toContain('--model=opus');
  expect(keptSettings(scene, 'Ralph_State')).toMatchObject({
    prompt: { value: 'Fix it', source: 'RALPH_PROMPT' },
    model: { value: ['opus'], source: '--model' },
    timeout: { value: 2_700_000, source: 'RALPH_TIMEOUT_MINUTES' },
    retries: { value: 2, source: 'RALPH_RETRIES' },
    max_iterations: { value: 10, source: 'task type weekly_audit' },
    iteration_timeout: { value: 180_000, source: 'task type weekly_audit' },
    context_chars: { value: 9_000, source: 'ralph.config.yaml:5 context_chars' },
    max_wait: { value: 21_600_000, source: 'default' },
  });
});

test('a variable that means nothing is a warning with the nearest name', async () => {
  const scene = await makeScene(DONE);
  const { exitCode, stderr } = await scene.run([], { env: { RALPH_MAX_ITERATION: '1' } });
  expect(exitCode).toBe(0);
  expect(stderr).toContain(
    'ralph does not know the variable RALPH_MAX_ITERATION; did you mean RALPH_MAX_ITERATIONS?',
  );
  expect(stderr).toContain('up to 5 iterations');
});

test('inside a loop its five variables are neither settings nor worth a warning', async () => {
  const scene = await makeScene(DONE);
  const { exitCode, stderr } = await scene.run([], {
    env: {
      RALPH_RUN_ID: 'outer',
      RALPH_TASK_ID: 'outer',
      RALPH_ITERATION: 'nine',
      RALPH_MAX_ITERATIONS: 'nine',
      RALPH_STATE_FILE: '/nowhere',
      RALPH_RETRIES: '2',
    },
  });
  expect(exitCode).toBe(0);
  expect(stderr).toContain('up to 5 iterations');
  expect(stderr).not.toContain('RALPH_');
  expect(keptSettings(scene)).toMatchObject({
    max_iterations: { value: 5, source: 'default' },
    retries: { value: 2, source: 'RALPH_RETRIES' },
  });
});

describe('a task type', () => {
  test('with a payment in it is refused, wherever it comes from', async () => {
    const types = ['vendor_payment', 'Payments', 'make-payment'];
    await Promise.all(
      types.flatMap((type) => {
        const said = `'${type}' is refused: ralph never automates payments; leave it to a person.`;
        return [
          refusal(['--task-type', type], {}).then((lines) =>
            expect(lines).toEqual([`ralph: --task-type ${said}`]),
          ),
          refusal([], { env: { RALPH_TASK_TYPE: type } }).then((lines) =>
            expect(lines).toEqual([`ralph: RALPH_TASK_TYPE ${said}`]),
          ),
          refusal([], { config: `task_type: ${type}\n` }).then((lines) =>
            expect(lines).toEqual([`ralph: ralph.config.yaml:1 task_type ${said}`]),
          ),
        ];
      }),
    );
  });

  test('that a configuration makes of a payment is refused, used or not', async () => {
    const config = 'task_types:\n  vendor_payment: { max_iterations: 1 }\n';
    expect(await refusal([], { config })).toEqual([
      'ralph: ralph.config.yaml:2 task_types.vendor_payment is refused: ralph never automates payments.',
    ]);
  });

  test('that is unknown is refused with the nearest', async () => {
    expect(await refusal(['--task-type', 'codeing'], {})).toEqual([
      "ralph: --task-type 'codeing' is not a task type; did you mean coding?",
    ]);
  });
});

describe('an iteration longer than the whole task', () => {
  test('is refused where somebody wrote it down', async () => {
    const [byFlag, byVariable, byKey] = await Promise.all([
      refusal(['--iteration-timeout', '31m'], {}),
      refusal([], { env: { RALPH_ITERATION_TIMEOUT: '31m' } }),
      refusal([], { config: 'iteration_timeout: 31m\n' }),
    ]);
    const said =
      '(1860s) is longer than the time for the whole task (1800s, default); lower the one or raise the other.';
    expect(byFlag).toEqual([`ralph: --iteration-timeout ${said}`]);
    expect(byVariable).toEqual([`ralph: RALPH_ITERATION_TIMEOUT ${said}`]);
    expect(byKey).toEqual([`ralph: ralph.config.yaml:1 iteration_timeout ${said}`]);
  });

  test.for([
    ['the default', [], 5],
    ['a task type', ['--task-type', 'coding'], 30],
  ] as const)('is lowered to it where it comes from %s', async ([, args, most]) => {
    const scene = await makeScene(DONE);
    const { exitCode, stderr } = await scene.run(['--timeout', '1m', '--accept-empty', ...args]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`up to ${most} iterations of 1m, 1m in all`);
  });
});

describe('a configuration that was found', () => {
  test('refuses every start where others can write it, unless it is named', async () => {
    const scene = await makeScene([{ text: 'Not yet.' }, DONE, DONE]);
    const file = await scene.write(CONFIG, 'retries: 1\n');
    expect((await scene.run(['--task-id', 't', '-n', '1'])).exitCode).toBe(3);
    chmodSync(file, 0o666);
    const refusal = `ralph: ${file} is not used: everyone can write to it; fix that with chmod o-w. --config FILE names the one to use, also where chmod has no effect.\n`;
    const starts = [
      () => scene.run(),
      () => scene.run(['--dry-run']),
      () => scene.run(['--task-id', 't', '--resume-if-open']),
      () => scene.ralph(['rescue']),
      () => scene.ralph(['watch']),
    ];
    for (const start of starts) {
      expect(await start()).toMatchObject({ exitCode: 2, stdout: '', stderr: refusal });
    }
    expect(scene.fake.calls()).toHaveLength(1);
    for (const looks of ['status', 'report', 'logs']) {
      const { exitCode, stderr } = await scene.ralph(looks === 'logs' ? [looks, 't'] : [looks]);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    }
    expect((await scene.run(['--config', CONFIG])).exitCode).toBe(0);
    // A resume goes on with the settings of the task's start.
    expect((await scene.ralph(['resume', 't', '-n', '+1'])).exitCode).toBe(0);
  });

  test('is not used above the git root, and the reason is said', async () => {
    const scene = await makeScene(DONE);
    const file = await scene.write(CONFIG, 'max_iterations: 9\n');
    await scene.write('project/.git/HEAD', '');
    const { exitCode, stderr } = await scene.run([], { cwd: join(scene.folder, 'project') });
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`${file} is not used: it is above the git root`);
    expect(stderr).toContain('up to 5 iterations');
  });
});

describe('the configuration of another loop', () => {
  const RALPH_SECTION = `database: { host: localhost }
ralph:
  enabled: true
  max_iterations: 10
  completion_signals:
    - "TASK_COMPLETE"
    - "All tests passing"
    - "Ready for review"
  circuit_breaker:
    no_progress_limit: 3
    same_error_limit: 5
`;

  test('is accepted as it stands, and its signals complete the task', async () => {
    const scene = await makeScene(DONE);
    await scene.write('config.yaml', RALPH_SECTION);
    const { exitCode, stderr } = await scene.run(['--config', 'config.yaml']);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('up to 10 iterations');
    // A signal has to be stated twice in a row.
    expect(scene.fake.calls()).toHaveLength(2);
    expect(keptSettings(scene)).toMatchObject({
      no_progress_limit: { value: 3, source: 'config.yaml:10 circuit_breaker.no_progress_limit' },
    });
  });

  test('turns ralph off where it says so', async () => {
    const config = RALPH_SECTION.replace('enabled: true', 'enabled: false');
    const lines = await refusal([], { config });
    expect(lines[0]).toMatch(/^ralph: ralph\.config\.yaml:3 enabled is false: ralph is turned off/);
  });
});
