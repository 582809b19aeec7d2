import type { FleetTaskFacts } from '../../src/fleet/core/fleet-task.ts';
import type { FleetScene } from './fleet-scene.ts';
import { type StubRun, stubProblems, stubRuns } from './fleet-stub.ts';

/** What became of a fleet whose tasks have all ended, as far as it can be held against the notes of the stub. */
export interface FleetAudit {
  /** What must not be, one sentence each. */
  readonly problems: readonly string[];
  readonly ended: number;
  readonly iterations: number;
  readonly costUsd: number;
  /** Starts of the stub. */
  readonly starts: number;
}

/**
 * Holds the rows of a fleet, its events and the branches of its tasks against the notes of the stub: every task has
 * ended once, and each of its iterations was counted, paid and kept once. `iterations` is what each task had to take.
 */
export async function auditFleet(
  scene: Pick<FleetScene, 'queue' | 'stub' | 'origin'>,
  taskIds: readonly string[],
  iterations: number,
): Promise<FleetAudit> {
  const notes = scene.stub.notes();
  const runs = stubRuns(notes);
  const tasks = await scene.queue.tasks({});
  const problems = [...stubProblems(notes)];
  for (const taskId of taskIds) {
    const task = tasks.find(({ spec }) => spec.task_id === taskId);
    if (task === undefined) {
      problems.push(`${taskId}: it is not in the fleet`);
      continue;
    }
    const own = runs.filter((run) => run.task === taskId);
    problems.push(
      ...rowProblems(task, iterations),
      ...(await eventProblems(scene.queue, task, iterations)),
      ...branchProblems(scene.origin.git, task, own, iterations),
    );
  }
  const extra = tasks.length - taskIds.length;
  if (extra > 0) problems.push(`there are ${extra} tasks that nobody has queued`);
  return {
    problems,
    ended: tasks.filter(({ ended_at }) => ended_at !== null).length,
    iterations: tasks.reduce((sum, task) => sum + task.iterations, 0),
    costUsd: tasks.reduce((sum, task) => sum + task.cost_usd, 0),
    starts: runs.length,
  };
}

/** What that many iterations of the stub cost, in dollars: as many cents each as its number says. */
export function stubCost(iterations: number): number {
  return (iterations * (iterations + 1)) / 2 / 100;
}

function rowProblems(task: FleetTaskFacts, iterations: number): readonly string[] {
  const { spec, status, exit_reason, exit_code, cost_usd, warning } = task;
  const problems: string[] = [];
  const told = (what: string): void => void problems.push(`${spec.task_id}: ${what}`);
  if (status !== 'completed' || exit_code !== 0) {
    told(`it is ${status} (${exit_reason}, ${exit_code}): ${warning}`);
  }
  if (task.iterations !== iterations) {
    told(`${task.iterations} iterations were counted instead of ${iterations}`);
  }
  if (Math.abs(cost_usd - stubCost(iterations)) > 1e-6) {
    told(`it cost $${cost_usd} instead of $${stubCost(iterations)}`);
  }
  return problems;
}

async function eventProblems(
  queue: FleetScene['queue'],
  { spec }: FleetTaskFacts,
  iterations: number,
): Promise<readonly string[]> {
  const events = (await queue.events(spec.task_id, 0)).map(({ event }) => event);
  const problems: string[] = [];
  const ends = events.filter((event) => 'exit_reason' in event).length;
  if (ends !== 1) problems.push(`${spec.task_id}: it has ended ${ends} times by its events`);
  const counted = events.flatMap((event) =>
    event.event === 'task_iterated' ? [event.iteration] : [],
  );
  if (counted.join() !== numbersTo(iterations).join()) {
    problems.push(`${spec.task_id}: the events count the iterations ${counted.join(', ')}`);
  }
  return problems;
}

/** Each iteration has one line of work in the result, by a run of the stub that came to its end. */
function branchProblems(
  git: FleetScene['origin']['git'],
  { spec, branch_commit }: FleetTaskFacts,
  runs: readonly StubRun[],
  iterations: number,
): readonly string[] {
  const told = (what: string): readonly string[] => [`${spec.task_id}: ${what}`];
  let text: string;
  try {
    const commit = git('rev-parse', `refs/heads/${spec.branch}`);
    if (commit !== branch_commit) return told(`its branch is at ${commit}, not ${branch_commit}`);
    text = git('show', `${commit}:work.txt`);
  } catch (error) {
    return told(`its branch cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  const lines = text.split('\n').map((line) => line.split('/'));
  const done = lines.map(([, iteration]) => Number(iteration));
  if (done.join() !== numbersTo(iterations).join()) {
    return told(`its result has the work of the iterations ${done.join(', ')}`);
  }
  for (const [taskId, iteration, pid] of lines) {
    const run = runs.find(
      (each) => each.pid === Number(pid) && each.iteration === Number(iteration),
    );
    if (taskId !== spec.task_id || run === undefined || run.endedMs === null) {
      return told(`iteration ${iteration} has work of an agent that never came to its end`);
    }
  }
  return [];
}

function numbersTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at + 1);
}
