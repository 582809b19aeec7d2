import { endTree, ORPHAN_ENDING } from './end-process.ts';
import { identityOf, type WatchEnd, watchLease } from './lease-watch.ts';
import { isAlive, type ProcessIdentity } from './process-table.ts';
import { createTree } from './process-tree.ts';

/*
 * The guard, a shell, runs this program when ralph has died without sending `bye`, which would dismiss the guard. The
 * program ends the processes of the run and exits. Run as `node guard-program.js RUN_ID DRIVER [PID:START]…`; DRIVER is
 * the `PID:START` of ralph. If the run has a lease (in a fleet, a time limit for its claim), this program is the guard
 * from the start, run as `node guard-program.js RUN_ID DRIVER lease=MS`.
 */

const DRIVER_DIES_WITHIN_MS = 1000;
const LOOK_EVERY_MS = 10;

// Node resets signals to their defaults when it starts, so this program ignores them again, as the shell before it did.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const [runId = '', driverName = '', ...rest] = process.argv.slice(2);
const driver = identityOf(driverName)[0] ?? null;
const watched = await untilOver(rest);
if (watched.kind === 'dismissed') process.exit();
if (runId !== '' && (await hasDied(driver))) {
  const tree = createTree({
    seeds: watched.noted,
    marker: runId,
    since: driver?.startedAt ?? null,
  });
  const ending = endTree(tree, { steps: ORPHAN_ENDING });
  const hurry = setInterval(() => watched.isOver() && ending.killNow(), LOOK_EVERY_MS);
  await ending.done;
  clearInterval(hurry);
}

/** Resolves when ralph is gone or says `bye`. Without a lease, the shell has watched ralph; `args` is what it noted. */
async function untilOver(args: readonly string[]): Promise<WatchEnd> {
  const [, leaseMs] = /^lease=(\d+)$/.exec(args[0] ?? '') ?? [];
  return leaseMs === undefined
    ? { kind: 'closed', noted: args.flatMap(identityOf), isOver: () => false }
    : watchLease({ runId, driver, leaseMs: Number(leaseMs), input: process.stdin });
}

/**
 * Whether ralph is dead within a second: a dying process closes its pipes a moment before it is dead. If
 * ralph stays alive, the pipe was closed for another reason, and ralph's agent must be left alone.
 */
async function hasDied(who: ProcessIdentity | null): Promise<boolean> {
  const giveUpAtMs = performance.now() + DRIVER_DIES_WITHIN_MS;
  while (who !== null && isAlive(who)) {
    if (performance.now() > giveUpAtMs) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  return true;
}
