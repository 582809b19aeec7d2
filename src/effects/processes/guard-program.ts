import { endTree, ORPHAN_ENDING } from './end-process.ts';
import { isAlive, type ProcessIdentity } from './process-table.ts';
import { createTree } from './process-tree.ts';

/*
 * The guard runs this program when ralph has died without sending `bye`. It ends the processes of
 * the run and exits. Run as `node guard-program.js RUN_ID DRIVER [PID:START]…`.
 */

const DRIVER_DIES_WITHIN_MS = 1000;
const LOOK_EVERY_MS = 10;

// Node resets signals to their defaults when it starts, so the shell's `trap` is lost.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

const [runId, driverName = '', ...noted] = process.argv.slice(2);
const driver = identityOf(driverName)[0];
if (runId && (await hasDied(driver))) {
  const seeds = noted.flatMap(identityOf);
  const tree = createTree({ seeds, marker: runId, since: driver?.startedAt ?? null });
  await endTree(tree, { steps: ORPHAN_ENDING }).done;
}

/** Parses `PID:START`; returns an empty list for any other form. */
function identityOf(name: string): ProcessIdentity[] {
  const [, pid, startedAt] = /^(\d+):(\d+)$/.exec(name) ?? [];
  return pid === undefined || startedAt === undefined ? [] : [{ pid: Number(pid), startedAt }];
}

/**
 * Whether the driver is dead within a second: a dying process closes its pipes a moment earlier. If
 * it stays alive, the pipe was closed for another reason, and its agent must be left alone.
 */
async function hasDied(driver: ProcessIdentity | undefined): Promise<boolean> {
  const giveUpAtMs = performance.now() + DRIVER_DIES_WITHIN_MS;
  while (driver !== undefined && isAlive(driver)) {
    if (performance.now() > giveUpAtMs) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  return true;
}
