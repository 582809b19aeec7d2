import { randomUUID } from 'node:crypto';
import { isObject } from '../../core/text/is-object.ts';
import type { Boss, JobAttempt, SqlRunner } from './load-engine.ts';

/*
 * How the queue uses its engine, pg-boss. The row of a task in `ralph.task` names the task's own job. Every
 * other job for the task is a leftover, which is removed by the claim that meets it, or when the task gets another job.
 * An open task has a job unless a person has paused it.
 */

/** Practically no limit of retries: ralph itself counts claims in the task's row, and ends a task after too many. */
const RETRIES = 1_000_000_000;
/** pg-boss ends an attempt of this age, even if its worker still renews it. A worker gives its task up before that. */
const LONGEST_LEG_S = 24 * 3_600;
/** pg-boss removes a job that has waited this long: practically never. */
const KEEP_WAITING_S = 60 * 365 * 24 * 3_600;
/** How long pg-boss keeps a job that is done: only briefly, since nothing reads it. */
const KEEP_DONE_S = 600;
/** How far apart two priorities are for pg-boss, so that the numbers of this many tasks fit between them. */
const NUMBERS = 10_000_000;

/** The columns of a task's row from which its jobs are made. */
export interface QueuedTask {
  readonly task_id: string;
  readonly number: string;
  readonly schema: number;
  readonly queue: string;
  readonly account: string;
  readonly priority: number;
}

export const QUEUED_COLUMNS = 'task_id, number, schema, queue, account, priority';

/** Returns the name of the pg-boss queue for tasks of one schema (stored form) and one queue of the fleet. */
export function queueName({ schema, queue }: Pick<QueuedTask, 'schema' | 'queue'>): string {
  return `ralph-s${schema}-${queue}`;
}

/** Returns the schema and the queue that `queueName` put into a name. */
export function readQueueName(name: string): Pick<QueuedTask, 'schema' | 'queue'> {
  const [, schema, queue = ''] = /^ralph-s(\d+)-(.*)$/.exec(name) ?? [];
  return { schema: Number(schema), queue };
}

/** SQL for the value of `queueName` for the task in row `t`. */
export const QUEUE_NAME = "('ralph-s' || t.schema || '-' || t.queue)";

/** Returns a text that identifies one attempt at a job. */
export function jobKey(name: string, { id, retryCount }: JobAttempt): string {
  return `${name}/${id}/${retryCount}`;
}

/** Returns the parts that `jobKey` put into a text. */
export function readJobKey(key: string): JobAttempt & { readonly name: string } {
  const [name = '', id = randomUUID(), attempt = '0'] = key.split('/');
  return { name, id, retryCount: Number(attempt) };
}

interface NewJobOfTask {
  readonly task: QueuedTask;
  readonly job: string;
  readonly startAt: string | null;
}

export interface Jobs {
  readonly boss: Boss;
  /**
   * Makes sure that queues exist and that pg-boss knows them. Call it outside of transactions: within one, pg-boss
   * would look a queue up over a second connection, and would wait for ever if there is only one.
   */
  know(names: Iterable<string>): Promise<void>;
  knows(name: string): boolean;
  /** Makes a task's job, to be claimed from the ISO instant `startAt` on; null: at once. Resolves to its id. */
  add(tx: SqlRunner, task: QueuedTask, startAt: string | null): Promise<string>;
  addAll(tx: SqlRunner, tasks: readonly NewJobOfTask[]): Promise<void>;
  remove(tx: SqlRunner, task: QueuedTask, job: string | null): Promise<void>;
}

export function createJobs(boss: Boss, leaseMs: number): Jobs {
  const known = new Set<string>();

  async function know(name: string): Promise<void> {
    if (known.has(name)) return;
    try {
      await boss.getJobById(name, randomUUID());
    } catch (error) {
      if (!isObject(error) || error.code !== 'PGBOSS_QUEUE_NOT_FOUND') throw error;
      await boss.createQueue(name, {
        policy: 'stately',
        retryLimit: RETRIES,
        retryDelay: 0,
        retryBackoff: false,
        expireInSeconds: LONGEST_LEG_S,
        retentionSeconds: KEEP_WAITING_S,
        deleteAfterSeconds: KEEP_DONE_S,
        heartbeatSeconds: leaseMs / 1_000,
      });
    }
    known.add(name);
  }

  const addAll: Jobs['addAll'] = async (tx, tasks) => {
    const queues = new Map<string, NewJobOfTask[]>();
    for (const one of tasks) {
      const name = queueName(one.task);
      const those = queues.get(name) ?? [];
      those.push(one);
      queues.set(name, those);
    }
    for (const [name, those] of queues) {
      const left = await insert(tx, name, those);
      if (left.length === 0) continue;
      await removeLeftovers(tx, name, left);
      const [still] = await insert(tx, name, left);
      if (still !== undefined) throw new Error(`task ${still.task.task_id} got no job`);
    }
  };

  /** Makes jobs. Resolves to those that pg-boss did not make because a leftover job of the same task is in the way. */
  async function insert(
    tx: SqlRunner,
    name: string,
    those: readonly NewJobOfTask[],
  ): Promise<readonly NewJobOfTask[]> {
    const made = await boss.insert(
      name,
      those.map(({ task, job, startAt }) => ({
        id: job,
        data: { task: task.task_id },
        priority: enginePriority(task),
        singletonKey: task.task_id,
        group: { id: task.account },
        ...(startAt === null ? {} : { startAfter: startAt }),
      })),
      { db: tx, returnId: true },
    );
    const ids = new Set(made);
    return those.filter(({ job }) => !ids.has(job));
  }

  return {
    boss,
    async know(names) {
      for (const name of names) await know(name);
    },
    knows: (name) => known.has(name),
    addAll,
    async add(tx, task, startAt) {
      const job = randomUUID();
      await addAll(tx, [{ task, job, startAt }]);
      return job;
    },
    async remove(tx, task, job) {
      if (job !== null) await boss.deleteJob(queueName(task), job, { db: tx });
    },
  };
}

/** Removes all jobs of these tasks from a queue, before the tasks get new ones. */
async function removeLeftovers(
  tx: SqlRunner,
  name: string,
  tasks: readonly NewJobOfTask[],
): Promise<void> {
  await tx.executeSql(
    `delete from ralph_queue.job where name = $1 and singleton_key = any ($2) and state <= 'active'`,
    [name, tasks.map(({ task }) => task.task_id)],
  );
}

/**
 * pg-boss takes the highest priority first, and then the oldest job. A task that a worker gave up gets a new job, but
 * must not go to the end of the queue: so the task's number, which it keeps, is part of the priority.
 */
function enginePriority({ priority, number }: QueuedTask): number {
  return priority * NUMBERS - (Number(number) % NUMBERS);
}
