// Times snapshots of a work tree within this process and prints the figures as JSON. It is started by
// rows/snapshots.js with the folder of a repository, how many files change, and how often.
import { ask, type Git, makeGit } from '../../src/effects/git/call/git.ts';
import type { PrivateGit } from '../../src/effects/git/private-git.ts';
import { createSnapshotStore } from '../../src/effects/snapshots/snapshot-store.ts';
import { openTimedTree } from './timed-tree.ts';

const [root = '.', changes = '1', runs = '10'] = process.argv.slice(2);
const { git, ids, change } = await openTimedTree(root);
let calls = 0;
const counting = (each: Git): Git =>
  makeGit((args, extras) => {
    calls += 1;
    return ask(each, args, extras);
  });
const counted: PrivateGit = { ...git, own: counting(git.own), users: counting(git.users) };
const request = {
  ...{ git: counted, ids, newest: null },
  ...{ maxBytes: 1e6, pathspecs: [] },
};
const store = createSnapshotStore(request);
let taken = 0;

/** Takes a snapshot, if anything differs. */
async function take(): Promise<{ readonly ms: number; readonly calls: number }> {
  const startedMs = performance.now();
  calls = 0;
  const kept = await store.keepTree();
  if (!kept.isAsNewest) {
    taken += 1;
    await store.keep(kept, [String(taken)], () => 'bench\n');
  }
  return { ms: performance.now() - startedMs, calls };
}

const first = await take();
const changed: { readonly ms: number; readonly calls: number }[] = [];
const unchanged: typeof changed = [];
for (let run = 0; run <= Number(runs); run += 1) {
  change(run, Number(changes));
  const [after, again] = [await take(), await take()];
  // The first one warms up.
  if (run > 0) {
    changed.push(after);
    unchanged.push(again);
  }
}
process.stdout.write(JSON.stringify({ first, changed, unchanged }));
