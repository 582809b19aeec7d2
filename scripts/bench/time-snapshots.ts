// Times snapshots of a work tree within this process and prints the figures as JSON. It is started by
// rows/snapshots.js with the folder of a repository, how many files change, and how often.
import { createSnapshotStore } from '../../src/effects/snapshots/snapshot-store.ts';
import { openTimedTree } from './timed-tree.ts';

const [root = '.', changes = '1', runs = '10'] = process.argv.slice(2);
const { git, ids, change } = await openTimedTree(root);
const store = createSnapshotStore({
  ...{ git, ids, newest: null },
  ...{ maxBytes: 1e6, pathspecs: [] },
});
let taken = 0;

/** Takes a snapshot, if anything differs; resolves to the milliseconds. */
async function take(): Promise<number> {
  const startedMs = performance.now();
  const kept = await store.keepTree();
  if (!kept.isAsNewest) {
    taken += 1;
    await store.keep(kept, [String(taken)], () => 'bench\n');
  }
  return performance.now() - startedMs;
}

const first = await take();
const changed: number[] = [];
for (let run = 0; run <= Number(runs); run += 1) {
  change(run, Number(changes));
  const ms = await take();
  // The first one warms up.
  if (run > 0) changed.push(ms);
}
process.stdout.write(JSON.stringify({ first, changed }));
