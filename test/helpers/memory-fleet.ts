import type { RalphEvent } from '../../src/core/machine/events.ts';
import { DEFAULT_LEASE_MS } from '../../src/core/supervisor/lease.ts';
import { FleetAwayError } from '../../src/errors.ts';
import type { FleetTaskFacts, Parking } from '../../src/fleet/core/fleet-task.ts';
import type * as Port from '../../src/fleet/database/fleet-queue.ts';
import { MemorySteering } from './memory-steering.ts';
import {
  byOwnClock,
  instant,
  isClosed,
  keepCheckpoint,
  type MemoryTask,
  memoryTask,
  pauseMemoryAccount,
} from './memory-tasks.ts';

/** The twin of the queue for tests: the same answers, without a database. */
export interface MemoryFleet extends Port.FleetQueue {
  /** While it is set, every method rejects with a `FleetAwayError`. */
  isAway: boolean;
}

/** Makes a fleet in memory. `now`: the clock of its database, in milliseconds. */
export function memoryFleet({
  leaseMs = DEFAULT_LEASE_MS,
  now = Date.now,
}: {
  readonly leaseMs?: number;
  readonly now?: () => number;
} = {}): MemoryFleet {
  const queue = new MemoryQueue(leaseMs, now);
  return new Proxy(queue, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return async (...given: unknown[]) => {
        if (target.isAway && name !== 'close')
          throw new FleetAwayError(target.name, 'the test says so');
        // As from a database: what was handed out before does not change any more.
        return structuredClone(await value.apply(target, given));
      };
    },
  });
}

class MemoryQueue extends MemorySteering implements MemoryFleet {
  readonly name = 'fleet memory/test';
  readonly leaseMs: number;
  isAway = false;
  readonly #workers = new Map<string, Omit<Port.WorkerSeen, 'running'>>();
  #claims = 0;
  #events = 0;

  constructor(leaseMs: number, now: () => number) {
    super(now);
    this.leaseMs = leaseMs;
  }

  async submit(tasks: readonly Port.NewFleetTask[]): Promise<readonly Port.Submitted[]> {
    const outcome = tasks.map((task) => this.#outcomeOf(task));
    if (outcome.some(({ kind }) => kind === 'taken')) return outcome;
    for (const [index, task] of tasks.entries()) {
      if (outcome[index]?.kind !== 'queued') continue;
      const id = task.spec.task_id;
      const before = this.tasksById.get(id)?.facts;
      this.numbers += 1;
      const fresh = memoryTask(task, this.numbers, this.clock());
      fresh.facts.fence = before?.fence ?? 0;
      const isSameBranch =
        before?.spec.branch === task.spec.branch && before.spec.repo === task.spec.repo;
      fresh.facts.branch_commit = isSameBranch ? before.branch_commit : null;
      this.tasksById.delete(id);
      this.tasksById.set(id, fresh);
    }
    return outcome;
  }

  #outcomeOf({ spec, contentSha256, again }: Port.NewFleetTask): Port.Submitted {
    const taskId = spec.task_id;
    const before = this.tasksById.get(taskId);
    if (before === undefined) return { kind: 'queued', taskId };
    const isOpen = before.facts.ended_at === null;
    if (again) return isOpen ? { kind: 'taken', taskId, isOpen } : { kind: 'queued', taskId };
    if (before.contentSha256 !== contentSha256) return { kind: 'taken', taskId, isOpen };
    const { status } = before.facts;
    if (isOpen || status === 'pending' || status === 'running')
      return { kind: 'already-queued', taskId };
    return { kind: 'already-ended', taskId, status };
  }

  async present(worker: Port.WorkerFacts): Promise<void> {
    this.#workers.set(worker.id, { ...worker, seenAt: instant(this.clock()) });
  }

  async leave(workerId: string): Promise<void> {
    this.#workers.delete(workerId);
  }

  async claim(request: Port.ClaimRequest): Promise<Port.FleetClaim | null> {
    const next = [...this.tasksById.values()]
      .filter((task) => this.#mayClaim(task, request))
      .sort((a, b) => b.facts.spec.priority - a.facts.spec.priority || a.number - b.number)[0];
    if (next === undefined) return null;
    const { facts } = next;
    this.#claims += 1;
    const job = `job-${this.#claims}`;
    next.held = { job, leaseEndsAt: this.clock() + this.leaseMs };
    facts.spec = { ...facts.spec, schema: request.schema };
    facts.fence += 1;
    facts.claims_without_iteration += 1;
    facts.hosts = [...facts.hosts, request.host];
    facts.worker = request.workerId;
    facts.host = request.host;
    facts.parked = null;
    facts.not_before = null;
    if (facts.status === 'paused_awaiting_approval') facts.status = 'running';
    const newest = next.approvals.at(-1);
    return {
      ...{ taskId: facts.spec.task_id, fence: facts.fence, job, task: facts },
      checkpoint: next.checkpoint,
      answer: newest === undefined || newest.taken ? null : newest.answer,
    };
  }

  #mayClaim({ facts, startAt, held }: MemoryTask, request: Port.ClaimRequest): boolean {
    const { queues, accounts, schema } = request;
    const { spec } = facts;
    const account = this.accountsByName.get(spec.account);
    return [
      startAt !== null && startAt <= this.clock() && held === null,
      queues.includes(spec.queue) && spec.schema <= schema,
      accounts === null || accounts.includes(spec.account),
      !isClosed(account, this.clock()),
      !account?.slots || this.running(spec.account) < account.slots,
    ].every(Boolean);
  }

  #held({ taskId, job, fence }: Port.ClaimKey): MemoryTask | null {
    const task = this.tasksById.get(taskId);
    return task?.held?.job === job && task.facts.fence === fence ? task : null;
  }

  async beat(claims: readonly Port.ClaimKey[]): Promise<ReadonlySet<string>> {
    const held = new Set<string>();
    for (const claim of claims) {
      const hold = this.#held(claim)?.held;
      if (!hold) continue;
      hold.leaseEndsAt = this.clock() + this.leaseMs;
      held.add(claim.taskId);
    }
    return held;
  }

  /** Runs `work` if the claim holds. */
  #write(claim: Port.ClaimKey, work: (task: MemoryTask) => void): boolean {
    const task = this.#held(claim);
    if (task === null) return false;
    task.facts.updated_at = instant(this.clock());
    work(task);
    return true;
  }

  #keep(
    task: MemoryTask,
    checkpoint: Port.Checkpoint | null,
    { events, requestsDone, agentEnded = false }: Port.WrittenBeside,
  ): void {
    if (checkpoint !== null) keepCheckpoint(task, checkpoint, agentEnded);
    this.#append(task, events);
    task.requests = task.requests.filter(({ id }) => !requestsDone.includes(id));
    for (const approval of task.approvals) {
      if (requestsDone.includes(approval.id)) approval.taken = true;
    }
  }

  #append({ facts, events }: MemoryTask, added: readonly RalphEvent[]): void {
    const { worker, host, fence } = facts;
    for (const event of added) {
      if (event.event === 'agent_activity') continue;
      this.#events += 1;
      events.push({
        number: this.#events,
        event: { ...event, ...(worker && { worker }), ...(host && { host }), fence },
      });
    }
  }

  async save(
    claim: Port.ClaimKey,
    checkpoint: Port.Checkpoint,
    written: Port.WrittenBeside,
  ): Promise<boolean> {
    return this.#write(claim, (task) => this.#keep(task, checkpoint, written));
  }

  async tell(claim: Port.ClaimKey, events: readonly RalphEvent[]): Promise<boolean> {
    return this.#write(claim, (task) => this.#append(task, events));
  }

  async keepLog(claim: Port.ClaimKey, log: Port.PackedLog): Promise<boolean> {
    return this.#write(claim, (task) => {
      task.logs = [...task.logs.filter(({ name }) => name !== log.name), log];
    });
  }

  async park(
    claim: Port.ClaimKey,
    checkpoint: Port.Checkpoint | null,
    written: Port.WrittenBeside,
    given: Parking,
  ): Promise<boolean> {
    return this.#write(claim, (task) => {
      const { facts } = task;
      const parking = byOwnClock(given, this.clock());
      this.#keep(task, checkpoint, written);
      const isAnswered = parking.kind === 'approval' && task.approvals.at(-1)?.answer;
      if (parking.kind === 'handover' || isAnswered) task.startAt = this.clock();
      else task.startAt = Date.parse(parking.until);
      facts.claims_without_iteration = Math.max(0, facts.claims_without_iteration - 1);
      facts.hosts = facts.hosts.slice(0, -1);
      facts.parks_without_iteration += 1;
      facts.parked = parking;
      if (parking.kind === 'approval' && !isAnswered) facts.status = 'paused_awaiting_approval';
      this.free(task);
      if (parking.kind === 'wait' && parking.account) {
        const account = this.account(facts.spec.account);
        pauseMemoryAccount(account, parking.until, 'usage limit', this.clock());
      }
      this.obeyWhatIsLeft(task);
    });
  }

  async settle(
    claim: Port.ClaimKey,
    checkpoint: Port.Checkpoint | null,
    written: Port.WrittenBeside,
    end: Port.FleetSettlement,
  ): Promise<boolean> {
    return this.#write(claim, (task) => {
      this.#keep(task, checkpoint, written);
      this.free(task);
      task.startAt = null;
      if (end.status === 'paused') {
        Object.assign(task.facts, { warning: end.warning, note: end.note });
        this.obeyWhatIsLeft(task, 'pause');
        return;
      }
      task.requests = [];
      Object.assign(task.facts, {
        ...{ status: end.status, exit_reason: end.exitReason, exit_code: end.exitCode },
        ...{ warning: end.warning, note: end.note, parked: null },
        ...{ result_commit: end.resultCommit, result_ref: end.resultRef },
        branch_commit: end.branchCommit ?? task.facts.branch_commit,
        ended_at: instant(this.clock()),
      } satisfies Partial<FleetTaskFacts>);
    });
  }

  async noteBase(claim: Port.ClaimKey, commit: string): Promise<boolean> {
    return this.#write(claim, ({ facts }) => {
      facts.base_commit = commit;
    });
  }

  async requestsTo(claims: readonly Port.ClaimKey[]): Promise<readonly Port.FleetRequest[]> {
    return claims.flatMap((claim) => this.#held(claim)?.requests ?? []);
  }

  async askApproval(claim: Port.ClaimKey, approval: Port.FleetApproval): Promise<boolean> {
    return this.#write(claim, ({ approvals, facts }) => {
      const before = approvals.findIndex(({ id }) => id === approval.id);
      if (before !== -1 && approvals[before]?.taken === false) return;
      if (before !== -1) approvals.splice(before, 1);
      approvals.push({
        ...{ id: approval.id, text: approval.text },
        expiresAt: instant(this.clock() + approval.expiresInMs),
        ...{ taskId: facts.spec.task_id, askedAt: instant(this.clock()) },
        ...{ answer: null, taken: false },
      });
    });
  }

  async sweep(): Promise<readonly Port.SweepTrouble[]> {
    for (const task of this.tasksById.values()) {
      if (task.held !== null && task.held.leaseEndsAt < this.clock()) {
        this.free(task);
        task.startAt = this.clock();
      }
    }
    return [];
  }

  async readClock(): Promise<string> {
    return instant(this.clock());
  }

  async workers(): Promise<readonly Port.WorkerSeen[]> {
    const tasks = [...this.tasksById.values()];
    return [...this.#workers.values()].map((worker) => ({
      ...worker,
      running: tasks.flatMap(({ facts }) =>
        facts.worker === worker.id ? [facts.spec.task_id] : [],
      ),
    }));
  }

  async close(): Promise<void> {}
}
