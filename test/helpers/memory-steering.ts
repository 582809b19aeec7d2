import { rowOfState } from '../../src/core/task/endings.ts';
import type { FleetTaskFacts } from '../../src/fleet/core/fleet-task.ts';
import { isReadableSpec } from '../../src/fleet/core/spec-problems.ts';
import type * as Port from '../../src/fleet/database/fleet-queue.ts';
import {
  instant,
  isClosed,
  type MemoryAccount,
  type MemoryTask,
  pauseMemoryAccount,
} from './memory-tasks.ts';

type RowFilter = Port.TaskFilter & Parameters<Port.FleetQueue['unreadable']>[0];

const DONE: Port.RequestTaken = { kind: 'done' };
const UNKNOWN: Port.RequestTaken = { kind: 'unknown-task' };

/** What commands on any machine ask of the in-memory twin. */
export class MemorySteering {
  readonly clock: () => number;
  readonly tasksById = new Map<string, MemoryTask>();
  readonly accountsByName = new Map<string, MemoryAccount>();
  numbers = 0;

  constructor(now: () => number) {
    this.clock = now;
  }

  free(task: MemoryTask): void {
    task.held = null;
    task.facts.worker = null;
    task.facts.host = null;
  }

  account(name: string): MemoryAccount {
    const account = this.accountsByName.get(name) ?? {
      ...{ pausedUntil: null, isHeld: false, why: null, slots: 0 },
    };
    this.accountsByName.set(name, account);
    return account;
  }

  running(account: string): number {
    return this.#open().filter(({ held, facts }) => held && facts.spec.account === account).length;
  }

  #open(): MemoryTask[] {
    return [...this.tasksById.values()].filter(({ facts }) => facts.ended_at === null);
  }

  async request(taskId: string, asked: Port.NewFleetRequest): Promise<Port.RequestTaken> {
    const task = this.tasksById.get(taskId);
    if (task === undefined) return UNKNOWN;
    const { facts, requests } = task;
    if (facts.ended_at !== null) return refused(`it has ended (${facts.status})`);
    if (facts.worker !== null || asked.kind === 'tell') {
      this.numbers += 1;
      requests.push({ ...asked, id: `request-${this.numbers}`, taskId });
      if (facts.worker === null) return DONE;
      return { kind: 'left', worker: facts.worker, host: facts.host ?? '' };
    }
    this.#hold(task, asked.kind);
    return DONE;
  }

  /** Does what a person asked while the leg was ending, since no run can take it in any more. */
  obeyWhatIsLeft(task: MemoryTask, otherwise: 'pause' | null = null): void {
    const kinds = task.requests.map(({ kind }) => kind).filter((kind) => kind !== 'tell');
    const kind = kinds.includes('stop') ? 'stop' : kinds.length > 0 ? 'pause' : otherwise;
    if (kind !== null) this.#hold(task, kind);
  }

  #hold(task: MemoryTask, kind: 'pause' | 'stop'): void {
    task.startAt = null;
    task.facts.updated_at = instant(this.clock());
    const hints = task.requests.filter((each) => each.kind === 'tell');
    task.requests.splice(0, task.requests.length, ...hints);
    if (kind === 'pause') {
      Object.assign(task.facts, { paused: true, status: 'paused' });
      return;
    }
    Object.assign(task.facts, {
      ...{ status: 'stopped', exit_reason: 'stopped:request', exit_code: 143 },
      ...{ parked: null, paused: false, ended_at: instant(this.clock()) },
    } satisfies Partial<FleetTaskFacts>);
  }

  async resume(taskId: string, changed?: Port.ResumedSettings): Promise<Port.RequestTaken> {
    const task = this.tasksById.get(taskId);
    if (task === undefined) return UNKNOWN;
    const { facts } = task;
    if (facts.ended_at === null && !facts.paused) {
      return refused(facts.worker === null ? 'it is queued already' : 'a worker runs it');
    }
    if (facts.ended_at !== null && rowOfState(facts.status, facts.exit_reason)?.isFinal === true) {
      return refused(`it has ended for good (${facts.exit_reason ?? facts.status})`);
    }
    if (changed !== undefined) {
      if (facts.updated_at !== changed.since) return refused('somebody else has just changed it');
      const { settings, packed } = changed;
      facts.spec = { ...facts.spec, settings };
      if (packed !== null && task.checkpoint !== null) {
        task.checkpoint = { ...task.checkpoint, packed };
      }
    }
    facts.updated_at = instant(this.clock());
    const newest = task.approvals.at(-1);
    const isOpen = newest !== undefined && newest.answer === null && !newest.taken;
    if (isOpen) reopenRequest(newest, this.clock());
    const waitsForPerson = facts.parked?.kind === 'approval' && isOpen;
    if (waitsForPerson) facts.parked = { kind: 'approval', until: newest.expiresAt };
    const { parked } = facts;
    const wakeAt = waitsForPerson ? newest.expiresAt : facts.not_before;
    const until = parked?.kind === 'wait' ? parked.until : wakeAt;
    task.startAt = until === null ? this.clock() : Date.parse(until);
    if (parked === null) facts.status = 'pending';
    else facts.status = waitsForPerson ? 'paused_awaiting_approval' : 'running';
    Object.assign(facts, {
      ...{ paused: false, claims_without_iteration: 0, hosts: [], ended_at: null },
      parks_without_iteration: 0,
      ...{ exit_reason: null, exit_code: null, warning: null },
    } satisfies Partial<FleetTaskFacts>);
    return DONE;
  }

  async answer(taskId: string, answer: Port.FleetAnswer): Promise<Port.RequestTaken> {
    const task = this.tasksById.get(taskId);
    if (task === undefined) return UNKNOWN;
    const { facts } = task;
    if (facts.ended_at !== null) return refused(`it has ended (${facts.status})`);
    const asked = task.approvals.at(-1);
    if (asked === undefined || asked.taken) return refused('it waits for no approval');
    if (asked.answer !== null) {
      return refused(`its request was answered already (${asked.answer.verdict})`);
    }
    if (Date.parse(asked.expiresAt) <= this.clock()) {
      return refused('its request has expired');
    }
    asked.answer = { ...answer, sessionUser: 'memory' };
    if (facts.parked?.kind === 'approval' && !facts.paused) {
      task.startAt = this.clock();
      facts.status = 'running';
    }
    return DONE;
  }

  async pauseAccount(name: string, until: Port.AccountPause, by: string): Promise<void> {
    pauseMemoryAccount(this.account(name), until, by, this.clock());
  }

  async setAccount(name: string, { pause, resume, slots }: Port.AccountChange): Promise<void> {
    const account = this.account(name);
    if (resume === true) {
      Object.assign(account, { pausedUntil: null, isHeld: false, why: null });
      for (const task of this.#open()) {
        const { parked, paused, spec } = task.facts;
        if (spec.account !== name || parked?.kind !== 'wait' || !parked.account) continue;
        task.facts.parked = null;
        if (!paused) task.startAt = this.clock();
      }
    }
    if (pause !== undefined) pauseMemoryAccount(account, pause, 'by hand', this.clock());
    if (slots !== undefined) account.slots = slots;
  }

  async prune(taskIds: readonly string[], endedBefore: string): Promise<readonly string[]> {
    const isOld = (at: string | null | undefined) => at != null && at <= endedBefore;
    return taskIds.filter(
      (id) => isOld(this.tasksById.get(id)?.facts.ended_at) && this.tasksById.delete(id),
    );
  }

  async task(taskId: string): Promise<FleetTaskFacts | null> {
    const facts = this.tasksById.get(taskId)?.facts;
    return facts !== undefined && isReadableSpec(facts.spec) ? facts : null;
  }

  async tasks(filter: Port.TaskFilter): Promise<readonly FleetTaskFacts[]> {
    const tasks = this.#newest(filter).filter(({ spec }) => isReadableSpec(spec));
    if (filter.lean !== true) return tasks;
    return tasks.map((facts) => ({ ...facts, spec: { ...facts.spec, prompt: '', settings: {} } }));
  }

  async unreadable(filter: RowFilter): Promise<readonly Port.UnreadableTask[]> {
    return this.#newest(filter)
      .filter(({ spec }) => !isReadableSpec(spec))
      .map(({ spec, ended_at }) => ({ taskId: spec.task_id, endedAt: ended_at }));
  }

  #newest(filter: RowFilter): readonly FleetTaskFacts[] {
    const { open = false, troubled = false, taskId, limit, endedBefore, endedSince } = filter;
    const all = open ? this.#open() : [...this.tasksById.values()];
    return all
      .map(({ facts }) => facts)
      .filter(({ ended_at: at }) => endedBefore === undefined || (at !== null && at <= endedBefore))
      .filter(({ ended_at: at }) => endedSince === undefined || at === null || at >= endedSince)
      .filter(({ spec }) => taskId === undefined || spec.task_id === taskId)
      .filter((facts) => !troubled || isTroubled(facts, this.clock()))
      .slice(limit === undefined ? 0 : -limit);
  }

  async checkpoint(taskId: string): Promise<Port.Checkpoint | null> {
    return this.tasksById.get(taskId)?.checkpoint ?? null;
  }

  async events(taskId: string, since: number): Promise<readonly Port.NumberedEvent[]> {
    return (this.tasksById.get(taskId)?.events ?? []).filter(({ number }) => number > since);
  }

  async logs(taskId: string, after: number): Promise<readonly Port.PackedLog[]> {
    const { logs } = this.tasksById.get(taskId) ?? { logs: [] };
    return logs.filter(({ iteration }) => iteration > after);
  }

  async approvals(): Promise<readonly Port.FleetApprovalFacts[]> {
    return this.#open().flatMap(({ approvals }) => {
      const newest = approvals.at(-1);
      if (newest === undefined || newest.taken) return [];
      const { taken, ...facts } = newest;
      return [facts];
    });
  }

  async accounts(): Promise<readonly Port.AccountFacts[]> {
    const open = this.#open();
    const names = new Set([
      ...this.accountsByName.keys(),
      ...open.map(({ facts }) => facts.spec.account),
    ]);
    return [...names].sort().map((name) => {
      const account = this.accountsByName.get(name);
      const closed = isClosed(account, this.clock());
      const until = account?.pausedUntil ?? 0;
      const its = open.filter(({ facts }) => facts.spec.account === name);
      return {
        ...{ account: name, paused_until: until > this.clock() ? instant(until) : null },
        ...{ held: account?.isHeld ?? false, why: closed ? (account?.why ?? null) : null },
        ...{ slots: account?.slots ?? 0, running: its.filter(({ held }) => held !== null).length },
        ...{ waiting: this.#waiting(its).length, parked: its.filter(isParked).length },
      };
    });
  }

  /** Returns those that a worker may take now. */
  #waiting(tasks: readonly MemoryTask[]): readonly MemoryTask[] {
    return tasks.filter(
      (task) => task.held === null && !isParked(task) && (task.startAt ?? 0) <= this.clock(),
    );
  }

  async queues(): Promise<readonly Port.QueueFacts[]> {
    const open = this.#open();
    const keys = new Set(open.map(({ facts: { spec } }) => `${spec.queue} ${spec.schema}`));
    return [...keys].sort().map((key) => {
      const its = open.filter(({ facts: { spec } }) => `${spec.queue} ${spec.schema}` === key);
      const running = its.filter(({ held }) => held !== null).length;
      const waiting = this.#waiting(its);
      const [queue = '', schema = ''] = key.split(' ');
      return {
        ...{ queue, schema: Number(schema), waiting: waiting.length },
        ...{ running, parked: its.filter(isParked).length },
        oldest_waiting_at: waiting.map(({ facts }) => facts.created_at).sort()[0] ?? null,
      };
    });
  }
}

/** Whether a task waits for a limit, a person or a resume. */
function isParked({ held, facts: { paused, parked } }: MemoryTask): boolean {
  return held === null && (paused || (parked !== null && parked.kind !== 'handover'));
}

/** Lets the time for answering begin again. */
function reopenRequest(approval: MemoryTask['approvals'][number], now: number): void {
  const { askedAt, expiresAt } = approval;
  approval.expiresAt = instant(now + Date.parse(expiresAt) - Date.parse(askedAt));
  approval.askedAt = instant(now);
}

function refused(why: string): Port.RequestTaken {
  return { kind: 'refused', why };
}

const DAY_MS = 24 * 3_600_000;

function isTroubled(facts: FleetTaskFacts, now: number): boolean {
  const { ended_at, status, claims_without_iteration, parks_without_iteration } = facts;
  if (ended_at === null) return Math.max(claims_without_iteration, parks_without_iteration) >= 2;
  return status === 'failed' && now - Date.parse(ended_at) <= DAY_MS;
}
