import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { settle } from '../../src/compose/settings.ts';
import { layerOf } from '../../src/core/settings/setting-source.ts';
import type { SettingName } from '../../src/core/settings/settings.ts';
import { fleetSpec, specContent, withFleetDefaults } from '../../src/fleet/core/fleet-spec.ts';
import type { FleetSpec } from '../../src/fleet/core/fleet-task.ts';
import { DEFAULT_POLICY, type WorkerPolicy } from '../../src/fleet/core/worker-policy.ts';
import type { FleetQueue, NewFleetTask } from '../../src/fleet/database/fleet-queue.ts';
import type { LegWorld } from '../../src/fleet/leg/leg-world.ts';
import { runWorker, type WorkerOptions } from '../../src/fleet/worker/worker.ts';
import { stopsByHand } from './agent-life.ts';
import { makeOrigin } from './leg.ts';
import { until } from './processes.ts';
import type { Files } from './repository.ts';
import { GIT_ENV } from './repository.ts';
import { tempFolder } from './temp-folder.ts';

/** A policy under which a worker runs the stub agents of tests on repositories in temporary folders. */
export const TEST_POLICY: WorkerPolicy = {
  ...DEFAULT_POLICY,
  repos: ['/*'],
  agents: ['command'],
  commands: 'any',
};

/** What a test says of a task: its place, and settings in camelCase. */
export interface TaskOfTest {
  readonly id?: string;
  readonly repo: string;
  readonly place?: Partial<FleetSpec>;
  readonly settings?: Readonly<Partial<Record<SettingName, unknown>>>;
}

/** Makes a task whose agent is a shell script: what that prints is its answer. */
export async function taskOfTest(agent: string, task: TaskOfTest): Promise<NewFleetTask> {
  const { id = 't', repo, place, settings = {} } = task;
  const script = join(await tempFolder(), 'agent.sh');
  writeFileSync(script, agent);
  const given = {
    agent: 'command',
    agentCommand: `/bin/sh ${script}`,
    delay: '0',
    maxIterations: 3,
    ...settings,
  };
  const source = { kind: 'flag', where: 'the test' } as const;
  const resolved = await settle({
    flags: layerOf({ ...given, prompt: 'Work', taskId: id }, () => source),
    ...{ variables: {}, config: {}, taskTypes: {}, startDir: '/' },
  });
  const facts = { taskId: id, prompt: 'Work', taskType: 'default', passthrough: [] };
  const spec = fleetSpec(
    { ...withFleetDefaults(resolved), ...facts },
    {
      repo,
      subdir: null,
      branch: `ralph/${id}`,
      priority: 0,
      account: 'default',
      queue: 'default',
      ...place,
    },
  );
  const contentSha256 = createHash('sha256').update(specContent(spec)).digest('hex');
  return { spec, contentSha256, notBefore: null, again: false };
}

/** Returns the queue with some of its methods replaced. */
export function queueWith(queue: FleetQueue, methods: Partial<FleetQueue>): FleetQueue {
  return new Proxy(queue, {
    get: (target, name) => Reflect.get(methods, name) ?? Reflect.get(target, name),
  });
}

/** A worker of a test with its home. */
export async function workerOfTest(queue: FleetQueue, more: Partial<WorkerOptions> = {}) {
  const said: string[] = [];
  const stops = stopsByHand();
  const home = await tempFolder();
  const world: Omit<LegWorld, 'rest'> = {
    ...{ queue, id: 'w1', host: 'host1', home, policy: TEST_POLICY, accounts: null, hidden: [] },
    env: { ...GIT_ENV, HOME: home, XDG_STATE_HOME: join(home, 'state') },
    ...{
      keepTrees: 'failed',
      originPatienceMs: 0,
      longestLegMs: 3_600_000,
      oldestLegMs: 3_600_000,
    },
    ...{ roomLeft: () => null, say: (line) => void said.push(line) },
  };
  const options: WorkerOptions = {
    ...{
      ...world,
      queues: ['default'],
      slots: 1,
      pollMs: 20,
      untilEmpty: true,
      isVerbose: false,
      stops,
    },
    ...{ drainTimeoutMs: 60_000, restMs: 300_000, version: '0.0.0', schema: 1 },
    ...more,
  };
  return { said, stops, home, run: () => runWorker(options) };
}

/** Runs a worker until an agent has made the file, and tells it to stop. Resolves to what the worker said. */
export async function stoppedOnceThere(queue: FleetQueue, file: string): Promise<string> {
  const worker = await workerOfTest(queue);
  const run = worker.run();
  await until(
    () => existsSync(file),
    () => worker.said.join('\n'),
  );
  worker.stops.stop();
  await run;
  return worker.said.join('\n');
}

/** An origin, and its files on a branch after the work. */
export async function originOfTest(files: Files = { 'a.txt': 'a\n' }) {
  const origin = await makeOrigin(files);
  return {
    ...origin,
    show: (ref: string, file: string): string => origin.git('show', `${ref}:${file}`),
    refs: (): readonly string[] => origin.git('for-each-ref', '--format=%(refname)').split('\n'),
  };
}
