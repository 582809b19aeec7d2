import { isLastClaim } from '../../core/supervisor/lease.ts';
import { momentNow } from '../../effects/time/clock-reading.ts';
import { FleetError, messageOf } from '../../errors.ts';
import type { StopRequests } from '../../loop/ports.ts';
import type { ClaimKey, FleetClaim, FleetQueue, WorkerFacts } from '../database/fleet-queue.ts';
import { openLeg, type RunningLeg } from '../leg/leg.ts';
import type { LegWorld } from '../leg/leg-world.ts';
import { backOff, orAborted, pauseFor, repeat } from '../leg/repeat.ts';
import { clearDeadLegs } from '../leg/worker-home.ts';
import { createIdleness, type Idleness } from './idleness.ts';
import { tasksForLater } from './until-empty.ts';

/** The options with which a worker is started. */
export interface WorkerOptions extends Omit<LegWorld, 'rest'> {
  readonly queues: readonly string[];
  readonly slots: number;
  /** How often to look for a task, in milliseconds. */
  readonly pollMs: number;
  /** Whether to end when no task that the worker may claim is waiting or running: see `until-empty.ts`. */
  readonly untilEmpty: boolean;
  readonly isVerbose: boolean;
  /** How long a worker that is told to stop waits for its running iterations, in milliseconds. */
  readonly drainTimeoutMs: number;
  /** How long the worker claims nothing after it could not run a task, in milliseconds. */
  readonly restMs: number;
  readonly stops: StopRequests;
  readonly version: string;
  readonly schema: number;
}

/** The worker's runs of tasks (legs). A task has two for a moment if its worker loses it and claims it again. */
type RunningLegs = Set<RunningLeg>;

/** How often to look for requests to running tasks, in milliseconds. */
const REQUESTS_MS = 1_000;
/** How often to free the tasks of dead workers, in milliseconds. */
const SWEEP_MS = 10_000;
/** How often to remove work trees that are no longer needed, in milliseconds. */
const CLEAR_MS = 3_600_000;
/** Renewals of a claim in a lease, the time it lasts. A guard process kills the agent 0.8 of a lease after the last. */
const BEATS_IN_LEASE = 5;

/*
 * A worker does five things side by side; if one fails, the others go on. A leg is its run of one task:
 *
 *   claim      ──► leg ──► the task ends or waits; as many legs at once as the worker has slots
 *   beat       renews the claims; a leg whose claim is lost is dropped
 *   requests   passes tell, pause and stop from the rows to the folders of the legs
 *   sweep      frees the tasks of dead workers
 *   clear      removes old folders of legs
 */
/**
 * Works through the tasks of a fleet until told to stop. Resolves when its legs have ended: `gaveBack` says whether
 * some had to end in the middle of an iteration.
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

/** Claims tasks until the worker is told to stop, or has no task left with `untilEmpty`. */
async function claimAll(
  options: WorkerOptions,
  legs: RunningLegs,
  idleness: Idleness,
  told: ReturnType<typeof tellOnce>,
): Promise<void> {
  const { stops, slots, pollMs, untilEmpty } = options;
  const world = { ...options, rest: idleness.rest };
  const pauses = backOff();
  const ends = legEnds(stops.signal);
  while (!stops.signal.aborted) {
    try {
      if (legs.size < slots && !runsOneAlone(legs) && idleness.because() === null) {
        const claimed = await claimOne(options, world, legs, ends.happened);
        pauses.worked();
        told.worked();
        if (claimed) continue;
      }
      if (untilEmpty && legs.size === 0 && (await isDone(options))) return;
      await pauseFor(pollMs, ends.next());
    } catch (error) {
      // The refusal would repeat for ever, and a worker with `untilEmpty` is expected to end.
      if (untilEmpty && legs.size === 0 && error instanceof FleetError) throw error;
      told.failed(error);
      await pauseFor(pauses.next(), stops.signal);
    }
  }
}

/** Whether no task is left that the worker may claim now. Prints the tasks that are left for later. */
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
  // After a suspension, a worker may get back the task that it has lost itself.
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
 * Hands the worker's other tasks over if the new one has to run alone. Resolves when the new one may begin: once the
 * legs of those tasks, and any earlier leg of the same task, have ended.
 */
async function alone({ taskId, task }: FleetClaim, legs: RunningLegs): Promise<void> {
  const isLast = isLastClaim(task.claims_without_iteration);
  const others = isLast ? [...legs] : legsOf(taskId, legs);
  if (isLast) for (const leg of others) leg.handOver(`${taskId} has to run alone`);
  await Promise.allSettled(others.map(({ ended }) => ended));
}

function legsOf(taskId: string, legs: RunningLegs): readonly RunningLeg[] {
  return [...legs].filter(({ claim }) => claim.taskId === taskId);
}

/** Whether a task runs, or will at once, that has to run alone, since it may have killed earlier workers. */
function runsOneAlone(legs: RunningLegs): boolean {
  return [...legs].some(({ claim }) => isLastClaim(claim.task.claims_without_iteration));
}

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

async function clear({ home, say, isVerbose }: WorkerOptions): Promise<void> {
  for (const name of await clearDeadLegs(home)) {
    if (isVerbose) say(`removed the old leg ${name}`);
  }
}

/** Writes people's requests into the state folders of the running tasks, where the loop looks for them. */
async function passRequests(queue: FleetQueue, legs: RunningLegs): Promise<void> {
  const claims: readonly ClaimKey[] = [...legs].map(({ claim }) => claim);
  if (claims.length === 0) return;
  const failed: unknown[] = [];
  for (const request of await queue.requestsTo(claims)) {
    // If one request cannot be written, the others still are.
    await legsOf(request.taskId, legs)
      .at(-1)
      ?.take(request)
      .catch((error) => failed.push(error));
  }
  if (failed.length > 0) throw failed[0];
}

/** Sweeps the fleet. Prints each kind of trouble only once, since it may come back with every sweep. */
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
 * Waits for the running iterations, and hands their tasks over. A second stop request, or the time limit, ends them at
 * once. Resolves to whether any iteration was ended like that.
 */
async function drain(options: WorkerOptions, legs: RunningLegs): Promise<boolean> {
  const { stops, drainTimeoutMs, say } = options;
  if (legs.size === 0) return false;
  say(`stopping: taking no more tasks; ${legs.size} still running`);
  for (const leg of legs) leg.handOver('the worker stops');
  const tooLong = AbortSignal.any([stops.hurry, AbortSignal.timeout(drainTimeoutMs)]);
  const ended = Promise.allSettled([...legs].map((leg) => leg.ended));
  const isOver = await orAborted(ended, tooLong).then(
    () => true,
    () => false,
  );
  if (isOver) return false;
  const running = [...legs].filter((leg) => !leg.isSettling());
  for (const leg of legs) leg.drop('the worker stopped');
  await ended;
  return running.length > 0;
}

/**
 * Reports when the next leg ends, so that its slot is filled at once and not only after a whole poll, or when the worker
 * is told to stop. `AbortSignal.any` is not used: each of its signals stays in the memory of a worker that runs for
 * months.
 */
function legEnds(stop: AbortSignal): { next(): AbortSignal; happened(): void } {
  let next = new AbortController();
  const happened = (): void => {
    next.abort();
    if (!stop.aborted) next = new AbortController();
  };
  stop.addEventListener('abort', happened);
  return { next: () => next.signal, happened };
}

/** Prints an error unless it is the same as the last one, and prints once that the fleet answers again. */
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
