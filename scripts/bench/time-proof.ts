// Times within this process what a claim costs beside its checks: comparing what decides them with the
// start. Prints the milliseconds as JSON. It is started by rows/proof.js with the folder of a
// repository, how many files change, and how often.
import { findDeciders, lookAtDeciders } from '../../src/effects/proof/decider-look.ts';
import { takeDeciders } from '../../src/effects/proof/deciders-at-start.ts';
import { createSnapshotStore } from '../../src/effects/snapshots/snapshot-store.ts';
import { openTimedTree } from './timed-tree.ts';

const [root = '.', changes = '1', runs = '10'] = process.argv.slice(2);
const { git, ids, change } = await openTimedTree(root);
const store = createSnapshotStore({
  ...{ git, ids, newest: null },
  ...{ maxBytes: 1e6, pathspecs: [] },
});
const { env } = process;
const checks = ['npm test'];
const request = { git, checks, folder: '' };
const start = (await store.keepTree()).tree;
const claims: number[] = [];
for (let run = 0; run <= Number(runs); run += 1) {
  change(run, Number(changes));
  const claimed = (await store.keepTree()).tree;
  await takeDeciders({ cwd: root, checks, isOwn: () => false }, env);
  const atStart = await findDeciders(request, start);
  const startedMs = performance.now();
  await lookAtDeciders({ ...request, start, atStart, claimed, acceptChanged: [] });
  const ms = performance.now() - startedMs;
  // The first one warms up.
  if (run > 0) claims.push(ms);
}
process.stdout.write(JSON.stringify(claims));
