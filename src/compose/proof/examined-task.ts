import path from 'node:path';
import type { NamedPlace } from '../../core/proof/check-places.ts';
import { isInside, realPath } from '../../effects/files/real-path.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import type { SignalWatch } from '../../effects/processes/signals.ts';
import type { DecidersOfTree } from '../../effects/proof/decider-look.ts';
import { type DecidersAtStart, programsOf } from '../../effects/proof/deciders-at-start.ts';
import type { Sandbox } from '../../effects/sandbox/sandbox.ts';
import type { TreeKeeper } from '../../effects/snapshots/keeper/tree-keeper.ts';

/** A task, for an examination of whether its agent's word that it is done (a claim) is true. */
export interface ExaminedTask {
  readonly run: {
    readonly plan: RunPlan;
    readonly stops: SignalWatch;
    readonly warn: (sentence: string) => void;
  };
  /** Null outside git, with `--no-snapshots`, or if git can no longer open the repository. */
  readonly keeper: TreeKeeper | null;
  /** Whether any run of the task has made snapshots. If so, no claim is accepted without them. */
  readonly hasSnapshots: boolean;
  readonly atStart: DecidersAtStart;
  readonly sandbox: Sandbox | null;
  readonly env: () => NodeJS.ProcessEnv;
  /** What decided the results of the checks in the files of the start, by the checks' commands. */
  readonly known: Map<string, Promise<DecidersOfTree>>;
  /** Files that the checks have changed, and about which a person has been told. */
  readonly told: Set<string>;
}

/** Returns the folder of the checks, relative to the root of the work tree; empty for the root, or outside git. */
export function belowRoot({ run, keeper }: ExaminedTask): string {
  return keeper === null ? '' : path.relative(keeper.git.repository.root, realPath(run.plan.cwd));
}

/** Returns the paths by which checks may name the work tree and the folder in which they run. */
export function placesOf(task: ExaminedTask): readonly NamedPlace[] {
  const { run, keeper } = task;
  if (keeper === null) return [];
  const { root } = keeper.git.repository;
  const { cwd } = run.plan;
  const below = belowRoot(task);
  return [
    { as: root, below: '' },
    { as: cwd, below },
    ...(below !== '' && cwd.endsWith(`/${below}`)
      ? [{ as: cwd.slice(0, -below.length - 1), below: '' }]
      : []),
  ];
}

/** Returns the programs of checks that were found in the work tree itself, relative to its root. */
export function programsInTree({ keeper, atStart }: ExaminedTask): readonly string[] {
  const root = keeper?.git.repository.root ?? '';
  return [...programsOf(atStart).values()].flatMap((file) =>
    file !== null && isInside(root, realPath(file)) ? [path.relative(root, realPath(file))] : [],
  );
}
