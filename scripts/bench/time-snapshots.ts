// Times snapshots of a work tree within this process and prints the figures as JSON. It is started by
// rows/snapshots.js with the folder of a repository, how many files change, and how often.
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPrivateGit, type PrivateGit } from '../../src/effects/snapshots/private-git.ts';
import { findRepository } from '../../src/effects/snapshots/repository.ts';
import { createSnapshotStore } from '../../src/effects/snapshots/snapshot-store.ts';
import { runGit } from '../../src/effects/workspace/git-command.ts';

const [root = '.', changes = '1', runs = '10'] = process.argv.slice(2);
const timeoutMs = 60_000;
const { env } = process;
const repository = await findRepository(root, (cwd, args) => runGit({ cwd, args, env, timeoutMs }));
if (repository === null) throw new Error(`There is no repository in ${root}.`);
const folder = mkdtempSync(join(root, '..', 'own-git-'));
const git = openPrivateGit({ folder, repository, env, timeoutMs });
let calls = 0;
const counted: PrivateGit = {
  ...git,
  run(...call) {
    calls += 1;
    return git.run(...call);
  },
  onRepository(...call) {
    calls += 1;
    return git.onRepository(...call);
  },
};
const refs = `refs/ralph/bench-${process.pid}`;
const request = { git: counted, refs, newest: null, maxBytes: 1e6, pathspecs: [] };
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
const folders = readdirSync(root).filter((name) => name.startsWith('folder-'));
const changed: { readonly ms: number; readonly calls: number }[] = [];
const unchanged: typeof changed = [];
for (let run = 0; run <= Number(runs); run += 1) {
  for (let change = 0; change < Number(changes); change += 1) {
    const place = folders[(run * 7 + change * 31) % folders.length] ?? '';
    const name = readdirSync(join(root, place))[change] ?? '';
    writeFileSync(join(root, place, name), `Changed in run ${run}, ${process.pid}.\n`);
  }
  const [after, again] = [await take(), await take()];
  // The first one warms up.
  if (run > 0) {
    changed.push(after);
    unchanged.push(again);
  }
}
process.stdout.write(JSON.stringify({ first, changed, unchanged }));
