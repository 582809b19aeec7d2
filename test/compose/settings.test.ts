import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { settle } from '../../src/compose/settings.ts';
import type { Layer } from '../../src/core/settings/setting-source.ts';
import type { SettingName } from '../../src/core/settings/settings.ts';
import { settingsProblems } from '../../src/core/settings/settings-problems.ts';
import type { TaskTypeLimits } from '../../src/core/settings/task-type.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

type Values = Partial<Record<SettingName, string>>;

/** What is written, and where. */
interface Places {
  readonly flags?: Values;
  readonly variables?: Values;
  readonly config?: Values;
  readonly types?: Readonly<Record<string, TaskTypeLimits>>;
  /** The front matter of the task file. */
  readonly front: string;
}

const FILE = 'Needs_Action/x.md';

async function settled({ flags = {}, variables = {}, config = {}, types = {}, front }: Places) {
  const startDir = await tempFolder();
  await mkdir(join(startDir, 'Needs_Action'));
  await writeFile(join(startDir, FILE), `---\n${front}\n---\nWrite it.\n`);
  const layer = (kind: 'flag' | 'variable' | 'config', values: Values): Layer =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        { value, source: { kind, where: `${kind} ${name}` } },
      ]),
    );
  const all = await settle({
    flags: layer('flag', { ...flags, taskFile: FILE }),
    variables: layer('variable', variables),
    config: layer('config', config),
    taskTypes: types,
    startDir,
  });
  const problems = [...all.problems, ...all.valueProblems];
  expect([...problems, ...settingsProblems({ ...all, passthrough: [] })]).toEqual([]);
  return all;
}

/** Iterations, time of an iteration, time of the task, each with where it comes from. */
async function limitsOf(places: Places): Promise<readonly string[]> {
  const { settings, sources } = await settled(places);
  return [
    `${settings.maxIterations} ${sources.maxIterations.where}`,
    `${settings.iterationTimeout / 1_000}s ${sources.iterationTimeout.where}`,
    `${settings.timeout / 60_000}m ${sources.timeout.where}`,
  ];
}

const CODING = ['30 task type coding', '1800s task type coding', '480m task type coding'];
const BY_DEFAULT = ['5 default', '180s default', '30m default'];
/** A type of less than every default. */
const SMALL = { small: { maxIterations: '2', iterationTimeout: '1m', timeout: '10m' } };
const OF_SMALL = ['2 task type small', '60s task type small', '10m task type small'];

describe('a type that only the task file names', () => {
  test.for<[what: string, places: Places, limits: readonly string[]]>([
    ['holds over the defaults', { front: 'type: coding' }, CODING],
    ['lowers the defaults', { front: 'type: small', types: SMALL }, OF_SMALL],
    [
      'lowers what flags wrote',
      {
        front: 'type: small',
        types: SMALL,
        flags: { maxIterations: '9', iterationTimeout: '9m', timeout: '9h' },
      },
      OF_SMALL,
    ],
    [
      'lowers what variables wrote',
      {
        front: 'type: small',
        types: SMALL,
        variables: { maxIterations: '9', iterationTimeout: '9m', timeout: '9h' },
      },
      OF_SMALL,
    ],
    [
      'lowers what the configuration wrote',
      {
        front: 'type: small',
        types: SMALL,
        config: { maxIterations: '9', iterationTimeout: '9m', timeout: '9h' },
      },
      OF_SMALL,
    ],
    [
      'raises nothing that the configuration wrote',
      {
        front: 'type: coding',
        config: { maxIterations: '2', iterationTimeout: '1m', timeout: '10m' },
      },
      ['2 config maxIterations', '60s config iterationTimeout', '10m config timeout'],
    ],
    [
      'raises the defaults beside what the configuration wrote',
      { front: 'type: coding', config: { maxIterations: '2' } },
      ['2 config maxIterations', CODING[1] ?? '', CODING[2] ?? ''],
    ],
    [
      'lowers one and leaves the other',
      { front: 'type: coding', config: { maxIterations: '50', timeout: '1h' } },
      [CODING[0] ?? '', CODING[1] ?? '', '60m config timeout'],
    ],
    ...(['flags', 'variables'] as const).flatMap((place) => {
      const kind = place === 'flags' ? 'flag' : 'variable';
      return [
        [
          `raises nothing where ${place} bound the iterations`,
          { front: 'type: coding', [place]: { maxIterations: '1' } },
          [`1 ${kind} maxIterations`, '180s default', '30m default'],
        ],
        [
          `raises nothing where ${place} bound an iteration`,
          { front: 'type: coding', [place]: { iterationTimeout: '1m' } },
          ['5 default', `60s ${kind} iterationTimeout`, '30m default'],
        ],
        [
          `raises nothing where ${place} bound the task`,
          { front: 'type: coding', [place]: { timeout: '10m' } },
          ['5 default', '180s default', `10m ${kind} timeout`],
        ],
      ] satisfies [string, Places, string[]][];
    }),
    [
      'lowers defaults also where a flag has bound the run',
      { front: 'type: small', types: SMALL, flags: { maxIterations: '1' } },
      ['1 flag maxIterations', OF_SMALL[1] ?? '', OF_SMALL[2] ?? ''],
    ],
    [
      'is not looked at where a flag names one',
      { front: 'type: small', types: SMALL, flags: { taskType: 'coding' } },
      CODING,
    ],
    [
      'is not looked at where a variable names one',
      { front: 'type: coding', types: SMALL, variables: { taskType: 'small' } },
      OF_SMALL,
    ],
    [
      'raises nothing of a type that the configuration names',
      { front: 'type: coding', types: SMALL, config: { taskType: 'small' } },
      OF_SMALL,
    ],
    [
      'lowers a type that the configuration names',
      { front: 'type: small', types: SMALL, config: { taskType: 'coding' } },
      OF_SMALL,
    ],
    [
      'raises the default type of the configuration, which is a default too',
      { front: 'type: coding', types: { default: { maxIterations: '2', timeout: '1m' } } },
      CODING,
    ],
    [
      'raises the default type no more where a flag has bound the run',
      {
        front: 'type: coding',
        types: { default: { maxIterations: '2', timeout: '10m' } },
        flags: { iterationTimeout: '2m' },
      },
      ['2 task type default', '120s flag iterationTimeout', '10m task type default'],
    ],
    [
      'leaves alone what it says nothing of',
      {
        front: 'type: short',
        types: { short: { timeout: '10m' }, default: { maxIterations: '2' } },
      },
      ['2 task type default', '180s default', '10m task type short'],
    ],
    ['of another program is none', { front: 'type: letter' }, BY_DEFAULT],
    [
      'goes with a lower limit of the file itself',
      { front: 'type: coding\nmax_iterations: 7' },
      [`7 ${FILE} max_iterations`, CODING[1] ?? '', CODING[2] ?? ''],
    ],
    [
      'goes with a limit of the file that is higher than its own',
      { front: 'type: small\nmax_iterations: 7', types: SMALL, flags: { maxIterations: '9' } },
      ['2 task type small', '60s task type small', '10m task type small'],
    ],
  ])('%s', async ([, places, limits]) => {
    expect(await limitsOf(places)).toEqual(limits);
  });

  test('is the type of the task, whichever of its limits count', async () => {
    const { taskType } = await settled({ front: 'type: coding', flags: { maxIterations: '1' } });
    expect(taskType).toBe('coding');
  });

  test('lowers longer iteration and idle limits to its own, and reports no problem', async () => {
    const flags = { iterationTimeout: '20m', idleTimeout: '15m', timeout: '2h' };
    const { settings, sources } = await settled({
      front: 'type: short',
      types: { short: { timeout: '10m' } },
      flags,
    });
    expect(settings).toMatchObject({
      iterationTimeout: 600_000,
      idleTimeout: 600_000,
      timeout: 600_000,
    });
    const by = { kind: 'task-type', where: 'task type short' };
    expect([sources.iterationTimeout, sources.idleTimeout]).toEqual([by, by]);
    const other = await settled({ front: 'type: email_processing', flags });
    expect(other.settings).toMatchObject({
      iterationTimeout: 180_000,
      idleTimeout: 180_000,
      timeout: 1_800_000,
    });
  });
});

test('a front matter can lower the iterations that any source sets, but never raise them', async () => {
  const iterations = async (places: Places): Promise<string> => (await limitsOf(places))[0] ?? '';
  const low = 'max_iterations: 2';
  const high = 'max_iterations: 50';
  expect(await iterations({ front: low, flags: { maxIterations: '9' } })).toBe(
    `2 ${FILE} max_iterations`,
  );
  expect(await iterations({ front: high, flags: { maxIterations: '9' } })).toBe(
    '9 flag maxIterations',
  );
  expect(await iterations({ front: high })).toBe('5 default');
});
