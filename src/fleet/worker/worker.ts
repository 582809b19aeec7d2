import { isLastClaim } from '../../core/supervisor/lease.ts';
import { momentNow } from '../../effects/time/clock-reading.ts';
import { FleetError, messageOf } from '../../errors.ts';
import type { StopRequests } from '../../loop/ports.ts';
import type { ClaimKey, FleetClaim, FleetQueue, WorkerFacts } from '../database/fleet-queue.ts';
import { openLeg, type RunningLeg } from '../leg/leg.ts';
import type { LegWorld } from '../leg/leg-world.ts';
import { backOff, pauseFor, repeat } from '../leg/repeat.ts';
import { clearDeadLegs } from '../leg/worker-home.ts';
import { createIdleness, type Idleness } from './idleness.ts';
import { tasksForLater } from './until-empty.ts';

/** What a worker is started with. */
export interface WorkerOptions extends Omit<LegWorld, 'rest'> {
  readonly queues: readonly string[];
  readonly slots: number;
  /** How often to look for a task, in milliseconds. */
  readonly pollMs: number;
  /** End when nothing that it may claim waits or runs: see `until-empty.ts`. */
  readonly untilEmpty: boolean;
  /** Whether to say what only a person who looks for a fault wants to know. */
  readonly isVerbose: boolean;
  /** How long a worker that is told to stop waits for its running iterations, in milliseconds. */
  readonly drainTimeoutMs: number;
  /** How long it claims nothing after a leg could not work here, in milliseconds. */
  readonly restMs: number;
  readonly stops: StopRequests;
  readonly version: string;
  readonly schema: number;
}

/** A task has two for a moment, if its worker claims it again that has lost it. */
type RunningLegs = Set<RunningLeg>;

/** How often to look for what people ask of running tasks, in milliseconds. */
const REQUESTS_MS = 1_000;
/** How often to look for what dead workers held, in milliseconds. */
const SWEEP_MS = 10_000;
/** How often to look for work trees that nobody needs any more, in milliseconds. */
const CLEAR_MS = 3_600_000;
/** Beats in one lease: the guard kills after 0.8 of it, so that a lost one or two do no harm. */
const BEATS_IN_LEASE = 5;

/*
 * A worker does four things side by side, each of which may fail without the others:
 *
 *   claim ──► leg ──► settle or park        as many legs at once as it has slots
 *   beat       renews the leases            a claim that is lost drops its leg
 *   requests   tell, pause and stop, from the rows to the folders of the legs
 *   sweep      frees what dead workers held
 */
/**
 * Works through the tasks of a fleet until it is told to stop. Resolves when its legs have ended, to whether it had
 * to end some of them before their iterations were done.
 */
export async function runWorker(options: WorkerOptions): Promise<{ readonly gaveBack: boolean }> {
  const { queue, say } = options;
  const legs: RunningLegs = new Set();
  const idleness = createIdleness(options);
  const over = new AbortController();
  const told = tellOnce(say);
  const troubles = new Set<string>();
  const rounds = [
    repeat(beatMs(queue), over.signal, () => beat(options, legs, idleness), told.failed),
    repeat(REQUESTS_MS, over.signal, () => passRequests(queue, legs), told.failed),
    repeat(SWEEP_MS, over.signal, () => sweep(queue, say, troubles), told.failed),
    repeat(CLEAR_MS, over.signal, () => clear(options), told.failed),
  ];
  try {
    await claimAll(options, legs, idleness, told);
    return { gaveBack: await drain(options, legs) };
  } finally {
    over.abort();
    await Promise.all(rounds);
    await queue.leave(options.id).catch(() => undefined);
  }
}

function beatMs({ leaseMs }: FleetQueue): number {
  return Math.max(500, Math.floor(leaseMs / BEATS_IN_LEASE));
}

/** Claims until the worker is told to stop, or nothing is left. */
async function claimAll(
  options: WorkerOptions,
  legs: RunningLegs,
  idleness: Idleness,
  told: ReturnType<typeof tellOnce>,
): Promise<void> {
  const { stops, slots, pollMs, untilEmpty } = options;
  const world = { ...options, rest: idleness.rest };
  const pauses = backOff();
  const ends = legEnds();
  while (!stops.signal.aborted) {
    try {
      if (legs.size < slots && !runsOneAlone(legs) && idleness.because() === null) {
        const claimed = await claimOne(options, world, legs, ends.happened);
        pauses.worked();
        told.worked();
        if (claimed) continue;
      }
      if (untilEmpty && legs.size === 0 && (await isDone(options))) return;
      await pauseFor(pollMs, AbortSignal.any([stops.signal, ends.next()]));
    } catch (error) {
      // It would be refused for ever, and nobody watches this worker.
      if (untilEmpty && legs.size === 0 && error instanceof FleetError) throw error;
      told.failed(error);
      await pauseFor(pauses.next(), stops.signal);
    }
  }
}

/** Whether nothing is left that the worker may claim. Names the tasks that are left for later. */
async function isDone(options: WorkerOptions): Promise<boolean> {
  const later = await tasksForLater(options);
  if (later === null) return false;
  if (later.length > 0)
    options.say(`no task can be claimed now; left for later: ${later.join(', ')}`);
  return true;
}

async function claimOne(
  options: WorkerOptions,
  world: LegWorld,
  legs: RunningLegs,
  onEnd: () => void,
): Promise<boolean> {
  const { queue, id, host, queues, schema } = options;
  const askedAt = momentNow();
  const claim = await queue.claim({
    ...{ workerId: id, host, queues, schema },
    accounts: accountsOf(options),
  });
  if (claim === null) return false;
  const { taskId } = claim;
  options.say(`took ${taskId}${options.isVerbose ? ` (fence ${claim.fence})` : ''}`);
  // A worker that has just woken may get a task that it has lost itself.
  for (const earlier of legsOf(taskId, legs)) earlier.drop('the claim is lost');
  const leg = openLeg(claim, askedAt, world, alone(claim, legs));
  legs.add(leg);
  leg.ended
    .catch((error) => options.say(`${taskId}: failed on this worker: ${messageOf(error)}`))
    .finally(() => {
      legs.delete(leg);
      onEnd();
    });
  return true;
}

function accountsOf({ accounts }: WorkerOptions): readonly string[] | null {
  return accounts === null ? null : [...accounts.keys()];
}

/**
 * Hands the other tasks of the worker over, if the new one has to run alone. Resolves when it may begin: when those have
 * ended, and each earlier leg of the same task.
 */
async function alone({ taskId, task }: FleetClaim, legs: RunningLegs): Promise<void> {
  const isLast = isLastClaim(task.claims_without_iteration);
  const others = isLast ? [...legs] : legsOf(taskId, legs);
  if (isLast) for (const leg of others) leg.handOver(`${taskId} has to run alone`);
  await Promise.allSettled(others.map(({ ended }) => ended));
}

/** Returns the legs of one task, the newest one last. */
function legsOf(taskId: string, legs: RunningLegs): readonly RunningLeg[] {
  return [...legs].filter(({ claim }) => claim.taskId === taskId);
}

/** Whether a task runs, or is about to, that may take the worker's other tasks with it. */
function runsOneAlone(legs: RunningLegs): boolean {
  return [...legs].some(({ claim }) => isLastClaim(claim.task.claims_without_iteration));
}

/** Renews the leases, and drops the legs whose claims are lost. */
async function beat(options: WorkerOptions, legs: RunningLegs, idleness: Idleness): Promise<void> {
  const { queue, id, host, version, schema, queues, slots } = options;
  const running = [...legs];
  for (const leg of running) leg.dropIfStale();
  const sentAt = momentNow();
  const held = await queue.beat(running.map(({ claim }) => claim));
  for (const leg of running) {
    if (held.has(leg.claim.taskId)) leg.beaten(sentAt);
    else if (legs.has(leg) && !leg.isSettling()) leg.drop('the claim is lost');
  }
  const facts: WorkerFacts = {
    ...{ id, host, pid: process.pid, version, schema, queues, slots },
    accounts: accountsOf(options),
    idle: idleness.because(),
  };
  await queue.present(facts);
}

/** Removes what dead workers left, and work trees that were kept for long enough. */
async function clear({ home, say, isVerbose }: WorkerOptions): Promise<void> {
  for (const name of await clearDeadLegs(home)) {
    if (isVerbose) say(`removed the old leg ${name}`);
  }
}

/** Leaves what people ask of running tasks in the folders of their runs, where the loop looks for it. */
async function passRequests(queue: FleetQueue, legs: RunningLegs): Promise<void> {
  const claims: readonly ClaimKey[] = [...legs].map(({ claim }) => claim);
  if (claims.length === 0) return;
  const failed: unknown[] = [];
  for (const request of await queue.requestsTo(claims)) {
    // A task whose request cannot be left holds up no other.
    await legsOf(request.taskId, legs)
      .at(-1)
      ?.take(request)
      .catch((error) => failed.push(error));
  }
  if (failed.length > 0) throw failed[0];
}

/** Says each kind of trouble once: it may come back with every sweep. */
async function sweep(
  queue: FleetQueue,
  say: (line: string) => void,
  told: Set<string>,
): Promise<void> {
  for (const { what, why } of await queue.sweep()) {
    if (told.has(why)) continue;
    told.add(why);
    say(`${what}: ${why.replace(/\.$/, '')}; retried with each sweep, and not reported again`);
  }
}

/**
 * Lets the running iterations end, and hands the tasks over. The second request ends them at once. Resolves to
 * whether iterations were ended so.
 */
async function drain(options: WorkerOptions, legs: RunningLegs): Promise<boolean> {
  const { stops, drainTimeoutMs, say } = options;
  if (legs.size === 0) return false;
  say(`stopping: taking no more tasks; ${legs.size} still running`);
  for (const leg of legs) leg.handOver('the worker stops');
  const tooLong = AbortSignal.any([stops.hurry, AbortSignal.timeout(drainTimeoutMs)]);
  const ended = Promise.allSettled([...legs].map((leg) => leg.ended));
  const isOver = ended.then(() => true);
  if (await Promise.race([isOver, aborted(tooLong).then(() => false)])) return false;
  const running = [...legs].filter((leg) => !leg.isSettling());
  for (const leg of legs) leg.drop('the worker stopped');
  await ended;
  return running.length > 0;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Tells of the next end of a leg, so that its slot does not stay free for a whole poll. */
function legEnds(): { next(): AbortSignal; happened(): void } {
  let next = new AbortController();
  return {
    next: () => next.signal,
    happened() {
      next.abort();
      next = new AbortController();
    },
  };
}

/** Says once that the fleet is away, and once that it is back. */
function tellOnce(say: (line: string) => void): {
  failed: (error: unknown) => void;
  worked: () => void;
} {
  let said: string | null = null;
  return {
    failed(error) {
      const why = messageOf(error);
      if (why !== said) say(why);
      said = why;
    },
    worked() {
      if (said !== null) say('the fleet answers again');
      said = null;
    },
  };
}
