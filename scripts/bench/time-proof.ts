// Times within this process what a claim costs beside its checks: finding what decides them, and comparing it
// with the start. Prints the milliseconds as JSON. It is started by rows/proof.js with the folder of a
// repository, how many files change, and how often.
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findJudges, lookAtJudges } from '../../src/effects/proof/judge-look.ts';
import { takeJudges } from '../../src/effects/proof/judges-at-start.ts';
import { openPrivateGit } from '../../src/effects/snapshots/private-git.ts';
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
const store = createSnapshotStore({
  ...{ git, refs: `refs/ralph/bench-${process.pid}`, newest: null },
  ...{ maxBytes: 1e6, pathspecs: [] },
});
const checks = ['npm test'];
const request = { git, checks, folder: '' };
const start = (await store.keepTree()).tree;
const folders = readdirSync(root).filter((name) => name.startsWith('folder-'));
const first: number[] = [];
const claims: number[] = [];
for (let run = 0; run <= Number(runs); run += 1) {
  for (let change = 0; change < Number(changes); change += 1) {
    const place = folders[(run * 7 + change * 31) % folders.length] ?? '';
    const name = readdirSync(join(root, place))[change] ?? '';
    writeFileSync(join(root, place, name), `Changed in run ${run}, ${process.pid}.\n`);
  }
  const claimed = (await store.keepTree()).tree;
  const startedMs = performance.now();
  await takeJudges({ cwd: root, checks, isOwn: () => false }, env);
  const atStart = await findJudges(request, start);
  const foundMs = performance.now();
  await lookAtJudges({ ...request, start, atStart, claimed, acceptChanged: [] });
  const endedMs = performance.now();
  // The first one warms up.
  if (run === 0) continue;
  first.push(foundMs - startedMs);
  claims.push(endedMs - foundMs);
}
process.stdout.write(JSON.stringify({ first, claims }));
