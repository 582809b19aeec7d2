import type { RalphEvent } from '../../core/machine/events.ts';
import { FleetAwayError } from '../../errors.ts';
import type { FleetTaskFacts, Parking } from '../core/fleet-task.ts';
import { isReadableSpec } from '../core/spec-problems.ts';
import { accountFacts, changeAccount, pauseAccount } from './account-rows.ts';
import { openApprovals } from './approval-rows.ts';
import { claimNextTask } from './claim-task.ts';
import type { Database } from './connection.ts';
import { eventOfRow } from './event-rows.ts';
import type * as Port from './fleet-queue.ts';
import { type Jobs, readJobKey } from './jobs.ts';
import { queueFacts } from './queue-rows.ts';
import { answerTask, requestOf, wakeTask } from './steer-task.ts';
import { submitTasks } from './submit-tasks.ts';
import { sweepFleet } from './sweep-fleet.ts';
import { checkpointOf, factsOf, readTasks, SELECT_CHECKPOINT, SELECT_TASKS } from './task-rows.ts';
import { ClaimWriter } from './write-claim.ts';

/** The most tasks that one statement removes with all their events, so that it ends in time. */
const PRUNED_AT_ONCE = 100;

/** Removes settings that no task uses any more, at most so many that the statement ends in time. */
const UNUSED_SETTINGS = `delete from ralph.setting_set where sha256 in (
  select sha256 from ralph.setting_set s
  where not exists (select from ralph.task where setting_set = s.sha256) limit 10000)`;

/** The queue of a fleet in PostgreSQL: `ralph_queue` holds the jobs of pg-boss, `ralph` the tasks. */
export class PgFleetQueue implements Port.FleetQueue {
  readonly name: string;
  readonly leaseMs: number;
  readonly #database: Database;
  readonly #jobs: Jobs;
  readonly #writer: ClaimWriter;
  #isClosed = false;

  constructor(database: Database, jobs: Jobs, leaseMs: number) {
    this.name = database.name;
    this.leaseMs = leaseMs;
    this.#database = database;
    this.#jobs = jobs;
    this.#writer = new ClaimWriter(database, jobs, new WeakMap());
  }

  submit(tasks: readonly Port.NewFleetTask[]): Promise<readonly Port.Submitted[]> {
    return submitTasks(this.#database, this.#jobs, tasks);
  }

  async present({ id, ...facts }: Port.WorkerFacts): Promise<void> {
    await this.#database.rows(
      `insert into ralph.worker (id, facts) values ($1, $2)
       on conflict (id) do update set facts = $2, seen_at = now()`,
      [id, JSON.stringify(facts)],
    );
  }

  async leave(workerId: string): Promise<void> {
    await this.#database.rows('delete from ralph.worker where id = $1', [workerId]);
  }

  claim(request: Port.ClaimRequest): Promise<Port.FleetClaim | null> {
    return claimNextTask(this.#database, this.#jobs, this.leaseMs, request);
  }

  async beat(claims: readonly Port.ClaimKey[]): Promise<ReadonlySet<string>> {
    const byQueue = new Map<string, Port.ClaimKey[]>();
    for (const claim of claims) {
      const { name } = readJobKey(claim.job);
      byQueue.set(name, [...(byQueue.get(name) ?? []), claim]);
    }
    const held = new Set<string>();
    for (const [name, those] of byQueue) {
      const attempts = those.map(({ job }) => readJobKey(job));
      const { settled = [] } = await this.#jobs.boss.touch(name, attempts);
      for (const claim of those) {
        if (settled.includes(readJobKey(claim.job).id)) held.add(claim.taskId);
      }
    }
    return held;
  }

  save(
    claim: Port.ClaimKey,
    checkpoint: Port.Checkpoint,
    written: Port.WrittenBeside,
  ): Promise<boolean> {
    return this.#writer.save(claim, checkpoint, written);
  }

  tell(claim: Port.ClaimKey, events: readonly RalphEvent[]): Promise<boolean> {
    return this.#writer.tell(claim, events);
  }

  keepLog(claim: Port.ClaimKey, log: Port.PackedLog): Promise<boolean> {
    return this.#writer.keepLog(claim, log);
  }

  park(
    claim: Port.ClaimKey,
    checkpoint: Port.Checkpoint | null,
    written: Port.WrittenBeside,
    parking: Parking,
  ): Promise<boolean> {
    return this.#writer.park(claim, checkpoint, written, parking);
  }

  settle(
    claim: Port.ClaimKey,
    checkpoint: Port.Checkpoint | null,
    written: Port.WrittenBeside,
    settlement: Port.FleetSettlement,
  ): Promise<boolean> {
    return this.#writer.settle(claim, checkpoint, written, settlement);
  }

  noteBase(claim: Port.ClaimKey, commit: string): Promise<boolean> {
    return this.#writer.noteBase(claim, commit);
  }

  askApproval(claim: Port.ClaimKey, approval: Port.FleetApproval): Promise<boolean> {
    return this.#writer.askApproval(claim, approval);
  }

  async pauseAccount(name: string, until: Port.AccountPause, why: string): Promise<void> {
    await pauseAccount(this.#database, name, until, why);
  }

  async requestsTo(claims: readonly Port.ClaimKey[]): Promise<readonly Port.FleetRequest[]> {
    const rows = await this.#database.rows(
      `select r.id, r.task_id, r.kind, r.text, r.by from ralph.request r
       join ralph.task t using (task_id)
       join unnest($1::text[], $2::int[]) as c (task_id, fence) on c.task_id = t.task_id and c.fence = t.fence
       where t.worker is not null order by r.number`,
      [claims.map(({ taskId }) => taskId), claims.map(({ fence }) => fence)],
    );
    return rows.map(({ id, task_id, kind, text, by }) => ({
      ...{ id, taskId: task_id, kind, by },
      ...(kind === 'tell' ? { text: text ?? '' } : {}),
    }));
  }

  sweep(): Promise<readonly Port.SweepTrouble[]> {
    return sweepFleet(this.#database, this.#jobs);
  }

  request(taskId: string, request: Port.NewFleetRequest): Promise<Port.RequestTaken> {
    return requestOf(this.#database, this.#jobs, taskId, request);
  }

  resume(taskId: string, changed?: Port.ResumedSettings): Promise<Port.RequestTaken> {
    return wakeTask(this.#database, this.#jobs, taskId, changed);
  }

  answer(taskId: string, answer: Port.FleetAnswer): Promise<Port.RequestTaken> {
    return answerTask(this.#database, this.#jobs, taskId, answer);
  }

  setAccount(name: string, change: Port.AccountChange): Promise<void> {
    return changeAccount(this.#database, this.#jobs, name, change);
  }

  async prune(taskIds: readonly string[], endedBefore: string): Promise<readonly string[]> {
    const removed: string[] = [];
    let atOnce = PRUNED_AT_ONCE;
    for (let from = 0; from < taskIds.length; ) {
      const part = taskIds.slice(from, from + atOnce);
      try {
        const rows = await this.#database.rows(
          'delete from ralph.task where task_id = any ($1) and ended_at <= $2 returning task_id',
          [part, endedBefore],
        );
        removed.push(...rows.map(({ task_id }) => task_id));
        from += atOnce;
      } catch (error) {
        // The tasks may have logs of 50 MB each, so a slow statement is tried with fewer tasks.
        if (!(error instanceof FleetAwayError && error.isSlow) || part.length === 1) throw error;
        atOnce = Math.ceil(part.length / 2);
      }
    }
    // A failure does no harm: the next prune removes the settings that are left.
    await this.#database.rows(UNUSED_SETTINGS).catch(() => undefined);
    return removed;
  }

  async task(taskId: string): Promise<FleetTaskFacts | null> {
    const [row] = await this.#database.rows(`${SELECT_TASKS} where t.task_id = $1`, [taskId]);
    const facts = row === undefined ? null : factsOf(row);
    return facts !== null && isReadableSpec(facts.spec) ? facts : null;
  }

  async tasks(filter: Port.TaskFilter): Promise<readonly FleetTaskFacts[]> {
    return (await readTasks(this.#database, filter)).readable;
  }

  async unreadable(
    filter: Parameters<Port.FleetQueue['unreadable']>[0],
  ): Promise<readonly Port.UnreadableTask[]> {
    return (await readTasks(this.#database, { ...filter, lean: true })).unreadable;
  }

  async checkpoint(taskId: string): Promise<Port.KeptCheckpoint | null> {
    return checkpointOf((await this.#database.rows(SELECT_CHECKPOINT, [taskId]))[0]);
  }

  async events(taskId: string, since: number): Promise<readonly Port.NumberedEvent[]> {
    const rows = await this.#database.rows(
      'select number, worker, host, fence, body from ralph.event where task_id = $1 and number > $2 order by number',
      [taskId, since],
    );
    return rows.map(eventOfRow);
  }

  async logs(taskId: string, after: number): Promise<readonly Port.PackedLog[]> {
    return (await this.#database.rows(
      'select name, iteration, packed from ralph.log where task_id = $1 and iteration > $2 order by iteration, name',
      [taskId, after],
    )) as readonly Port.PackedLog[];
  }

  approvals(): Promise<readonly Port.FleetApprovalFacts[]> {
    return openApprovals(this.#database);
  }

  accounts(): Promise<readonly Port.AccountFacts[]> {
    return accountFacts(this.#database);
  }

  async readClock(): Promise<string> {
    const [row] = await this.#database.rows('select now() as at');
    return row?.at.toISOString();
  }

  async workers(): Promise<readonly Port.WorkerSeen[]> {
    const rows = await this.#database.rows(
      `select id, facts, started_at, seen_at,
         array(select task_id from ralph.task where worker = w.id order by number) as running
       from ralph.worker w order by started_at, id`,
    );
    return rows.map(({ id, facts, running, started_at, seen_at }) => ({
      ...{ ...facts, id, running },
      startedAt: started_at.toISOString(),
      seenAt: seen_at.toISOString(),
    }));
  }

  queues(): Promise<readonly Port.QueueFacts[]> {
    return queueFacts(this.#database);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // Work that pg-boss has not finished is of no use now, and the database may be away, so nothing waits for it.
    await this.#jobs.boss.stop({ graceful: false, close: false }).catch(() => {});
    await this.#database.close();
  }
}
