import { mkdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { stateJson } from '../../src/core/task/state-json.ts';
import type { TaskState } from '../../src/core/task/task-state.ts';
import { taskPaths } from '../../src/effects/state/task-folder.ts';
import { STATE } from '../../src/effects/trust/seal.ts';
import type { OpenFleet } from '../../src/fleet/cli/on-fleet.ts';
import type { FleetSpec } from '../../src/fleet/core/fleet-task.ts';
import type { Checkpoint, FleetClaim, PackedLog } from '../../src/fleet/database/fleet-queue.ts';
import { NOW } from './fleet-facts.ts';
import { claimed, newFleetTask } from './fleet-tasks.ts';
import { type MemoryFleet, memoryFleet } from './memory-fleet.ts';
import { packState } from './packed-task.ts';
import { tempFolder } from './temp-folder.ts';
import { testSeal } from './test-seal.ts';

/** A fleet in memory for the commands, and what a worker does to it. */
export interface FleetOnHand extends OpenFleet {
  readonly queue: MemoryFleet;
  /** Lets the database's clock go on. */
  readonly wait: (ms: number) => void;
  readonly submit: (...specs: readonly Partial<FleetSpec>[]) => Promise<void>;
  /** Claims the next task as the worker `w1` on `host1`. */
  readonly claim: () => Promise<FleetClaim>;
}

/** Makes a fleet, named by the words `--fleet URL`, whose clock begins at `NOW`. */
export function fleetOnHand(): FleetOnHand {
  let nowMs = Date.parse(NOW);
  const queue = memoryFleet({ now: () => nowMs });
  return {
    queue,
    words: ['--fleet', 'postgres://db.example.org/fleet'],
    wait: (ms) => {
      nowMs += ms;
    },
    async submit(...specs) {
      const tasks = specs.map(({ task_id = 'nightly', ...spec }) =>
        newFleetTask(task_id, spec, { contentSha256: JSON.stringify(spec) }),
      );
      await queue.submit(tasks);
    },
    claim: () => claimed(queue),
  };
}

/** Packs a task's state, as a worker would. */
export async function checkpointOf(
  state: TaskState,
  snapshot: Checkpoint['snapshot'] = null,
): Promise<Checkpoint> {
  const folder = await tempFolder();
  const paths = taskPaths(folder, state.task_id);
  const seal = testSeal(folder);
  mkdirSync(paths.folder);
  writeFileSync(`${paths.folder}/prompt.md`, state.task_prompt);
  writeFileSync(paths.stateFile, seal.close(stateJson(state), STATE));
  const { status, usage, metrics } = state;
  return {
    packed: packState(paths, seal),
    status,
    iterations: metrics.iterations,
    costUsd: usage.cost_usd,
    snapshot,
  };
}

export function packedLog(iteration: number, text: string, name?: string): PackedLog {
  const digits = String(iteration).padStart(4, '0');
  return {
    name: name ?? `iteration-${digits}.stdout.log`,
    iteration,
    packed: gzipSync(text),
  };
}
