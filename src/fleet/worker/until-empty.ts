import type { FleetTaskFacts } from '../core/fleet-task.ts';
import type { FleetQueue } from '../database/fleet-queue.ts';

interface Taking {
  readonly queue: FleetQueue;
  readonly queues: readonly string[];
  /** The accounts whose tasks the worker takes; null: those of every account. */
  readonly accounts: { has(name: string): boolean } | null;
  readonly schema: number;
}

/**
 * Returns the tasks that a worker would take but may not claim now, each with the reason in brackets. Resolves to null
 * if the worker may get any other open task: one that can be claimed, or that another worker may still hand over.
 */
export async function tasksForLater(taking: Taking): Promise<readonly string[] | null> {
  const { queue, queues, accounts, schema } = taking;
  const now = await queue.readClock();
  const paused = (await queue.accounts()).filter(
    ({ held, paused_until }) => held || paused_until !== null,
  );
  const pausedNames = new Set(paused.map(({ account }) => account));
  const later: string[] = [];
  for (const task of await queue.tasks({ open: true, lean: true })) {
    const { spec } = task;
    const isMine = queues.includes(spec.queue) && (accounts?.has(spec.account) ?? true);
    if (!isMine || spec.schema > schema) continue;
    const why = whyLater(task, now, pausedNames);
    if (why === null) return null;
    later.push(`${spec.task_id} (${why})`);
  }
  return later;
}

/** Returns why no worker may claim a task now; null if a worker may, or already runs it. */
function whyLater(
  { spec, worker, paused, parked, not_before }: FleetTaskFacts,
  now: string,
  pausedAccounts: ReadonlySet<string>,
): string | null {
  if (worker !== null) return null;
  if (paused) return 'paused';
  if (parked?.kind === 'wait') return `waits until ${parked.until}`;
  if (parked?.kind === 'approval') return 'waits for an approval';
  if (not_before !== null && Date.parse(not_before) > Date.parse(now)) {
    return `not before ${not_before}`;
  }
  return pausedAccounts.has(spec.account) ? `its account ${spec.account} is paused` : null;
}
