import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fixture } from '../../helpers/processes.ts';
import { bytesBelow, GIT_ENV, makeRepository, put } from '../../helpers/repository.ts';
import { snapshotsOf } from '../../helpers/snapshots.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

// After a power cut a file that was not flushed is empty or gone, though its name may be there. So
// everything that a ref leads to has to be flushed, under its name, before the ref has its own.

const hasStrace = spawnSync('strace', ['-V']).status === 0;

/** The environment of a `git` that notes its system calls in `log`. */
async function traced(log: string) {
  const bin = await tempFolder();
  symlinkSync(fixture('killed-git.sh'), join(bin, 'git'));
  return {
    ...GIT_ENV,
    PATH: `${bin}:${process.env.PATH}`,
    KILL_DIR: log,
    KILL_TRACE: 'rename,link,fsync,fdatasync',
  };
}

/** Which names became durable, in their order: a name counts from when it is given to flushed bytes. */
function durableNames(log: string): readonly string[] {
  const calls = readFileSync(join(log, 'calls'), 'utf8').split('\n').length - 1;
  const flushed = new Set<string>();
  const named: string[] = [];
  for (let call = 1; call <= calls; call += 1) {
    const trace = join(log, `trace-${call}`);
    for (const line of existsSync(trace) ? readFileSync(trace, 'utf8').split('\n') : []) {
      const synced = /(?:fsync|fdatasync)\(\d+<([^>]+)>\)\s+= 0/.exec(line)?.[1];
      if (synced !== undefined) flushed.add(synced);
      const [, from, to] = /(?:rename|link)\("([^"]+)", "([^"]+)"\)\s+= 0/.exec(line) ?? [];
      if (from === undefined || to === undefined || !flushed.has(from)) continue;
      flushed.add(to);
      named.push(to);
    }
  }
  return named;
}

test.skipIf(!hasStrace).for([
  ['a few files', 3],
  ['many files, which go into a pack', 150],
] as const)('a ref leads to nothing that a power cut can take: %s', async ([, count]) => {
  const { folder, git } = await makeRepository({ 'a.txt': 'a', 'd/b.txt': 'b' });
  const log = await tempFolder();
  const { take } = await snapshotsOf(folder, {}, await traced(log));
  const there = new Set(Object.keys(bytesBelow(join(folder, '.git/objects'))));
  for (const name of ['0', '1']) {
    const files = Array.from({ length: count }, (_, file) => [
      `new/${name}/${file}`,
      `${name} ${file}`,
    ]);
    put(folder, Object.fromEntries(files));
    git('add', 'new/0/0');
    await take(name);
  }
  const names = durableNames(log).map((name) => (name.startsWith('/') ? name : join(folder, name)));
  const packs = join(folder, '.git/objects/pack');
  const packOf = new Map<string, string>();
  for (const file of readdirSync(packs).filter((each) => each.endsWith('.idx'))) {
    const listed = spawnSync('git', ['show-index'], { input: readFileSync(join(packs, file)) });
    for (const line of String(listed.stdout).split('\n')) {
      packOf.set(line.split(' ')[1] ?? '', join(packs, file.slice(0, -4)));
    }
  }
  // What the user's own `git add` wrote is not ralph's to flush.
  const ofUser = git('rev-parse', ':new/0/0');
  const missing: string[] = [];
  const checked = { loose: 0, packed: 0 };
  for (const ref of ['0', '1']) {
    const whenNamed = names.indexOf(join(folder, `.git/refs/ralph/t/${ref}`));
    expect(whenNamed, `refs/ralph/t/${ref}`).toBeGreaterThan(-1);
    const before = new Set(names.slice(0, whenNamed));
    const ids = git('rev-list', '--objects', '--no-object-names', `refs/ralph/t/${ref}`);
    for (const id of ids.split('\n')) {
      const loose = `${id.slice(0, 2)}/${id.slice(2)}`;
      if (there.has(loose) || id === ofUser) continue;
      const pack = packOf.get(id);
      checked[pack === undefined ? 'loose' : 'packed'] += 1;
      const files =
        pack === undefined
          ? [join(folder, '.git/objects', loose)]
          : ['.pack', '.idx'].map((end) => `${pack}${end}`);
      missing.push(...files.filter((file) => !before.has(file)));
    }
  }
  expect(missing).toEqual([]);
  expect(checked.loose).toBeGreaterThan(3);
  if (count > 100) expect(checked.packed).toBeGreaterThan(100);
});
