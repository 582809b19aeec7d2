import { hasLag } from '../effects/branches/commit/index-lag.ts';
import type { DayCounter } from '../effects/logs/day-spending.ts';
import type { Sandbox } from '../effects/sandbox/sandbox.ts';
import type { Examiner, Ports, WorkTreeSettler } from '../loop/ports.ts';
import { agentKind } from './agent.ts';
import type { ClaimedRun } from './held-run.ts';
import type { ExaminedTask } from './proof/examined-task.ts';
import type { Start } from './start.ts';

/* Ports (links of the loop to the outside world) that many runs never use. Their code is loaded when first needed. */

/** Returns the port that examines an agent's claim to be done. Loads its code once a claim has passed the checks. */
export function examinerOf(
  run: ClaimedRun,
  { tree: { keeper }, deciders, state }: Start,
  sandbox: Sandbox | null,
  env: () => NodeJS.ProcessEnv,
): Examiner {
  const found: Pick<ExaminedTask, 'known' | 'told'> = { known: new Map(), told: new Set() };
  const hasSnapshots = run.plan.settings.snapshots !== false && state.task.git.snapshots !== null;
  return {
    async examine(request) {
      const { part, toJudge } = request;
      if (part === 'judge') {
        if (toJudge === undefined) throw new Error('nothing is known of the claim to judge');
        const { judgeClaim } = await import('./judge/judge-claim.ts');
        const about = { iteration: request.iteration, kindOf: agentKind };
        return { judge: await judgeClaim({ run, keeper, sandbox, ...about }, toJudge) };
      }
      if (deciders === null) throw new Error('a task without checks has nothing to examine');
      const { examineChecks } = await import('./proof/examiner.ts');
      const task = { run, keeper, hasSnapshots, sandbox, atStart: deciders, env, ...found };
      return examineChecks(task, { ...request, part });
    },
  };
}

/** Returns the port that counts a day's spending. Its code is loaded with the first call (for a daily budget). */
export function countDayOf({ paths, clock, warn }: ClaimedRun): Ports['countDay'] {
  let opened: Promise<DayCounter> | null = null;
  return async () => {
    opened ??= import('../effects/logs/day-spending.ts').then(({ createDayCounter }) =>
      createDayCounter(paths.eventsFile, warn),
    );
    return (await opened)(clock.now());
  };
}

const NOTHING_LEFT = { settlement: null, uncommitted: null, indexBehind: null } as const;

/** Returns the port that commits or reverts changes. Its code is loaded with the first commit or revert. */
export function settlerOf(
  run: ClaimedRun,
  { tree, gitSetup }: Start,
  sandbox: Sandbox | null,
): WorkTreeSettler {
  let opened: Promise<WorkTreeSettler> | null = null;
  const open = (): Promise<WorkTreeSettler> => {
    opened ??= import('./settle.ts').then(({ workTreeSettler }) =>
      workTreeSettler(run, tree.keeper, gitSetup, sandbox),
    );
    return opened;
  };
  return {
    commit: async (request) => (await open()).commit(request),
    revert: async (request) => (await open()).revert(request),
    async finish(left) {
      const isUsed =
        opened !== null || left !== null || (tree.keeper !== null && hasLag(tree.keeper.git));
      return isUsed ? (await open()).finish(left) : NOTHING_LEFT;
    },
  };
}
