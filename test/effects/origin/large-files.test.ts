import { chmodSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keepLegTree } from '../../../src/fleet/origin/leg-snapshots.ts';
import { makeResult } from '../../../src/fleet/origin/result.ts';
import { keeperOf, legTreeOf, makeOrigin, mirrorOf, NO_SIGNAL, NOW } from '../../helpers/leg.ts';
import { GIT_ENV, put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

// A filter that keeps contents beside git, as that of LFS does.

const ABOUT = { taskId: 't', order: 1, at: NOW, subject: 'the end', last: null };
const FACTS = { taskId: 't', iteration: 1, outcome: 'answered', summary: 'Work' };

/** What a file is in git, and its content in the store that all machines reach. */
const STORE = { 'store/one': 'content one\n', 'store/two': 'content two\n' };

async function stage() {
  const { url, first } = await makeOrigin({
    '.gitattributes': '*.big filter=lfs\n',
    'a.big': 'pointer one\n',
    'b.big': 'pointer two\n',
  });
  const folder = await tempFolder();
  const own = '$(git rev-parse --git-dir)';
  put(folder, {
    ...STORE,
    clean: `#!/bin/sh\nread -r word name; [ "$word" = pointer ] || echo "$word $name" >"${own}/$name"\necho "pointer $name"\n`,
    smudge: `#!/bin/sh\nread -r word name; cat "${own}/$name" 2>/dev/null || cat "${folder}/store/$name"\n`,
    config: `[filter "lfs"]\n\tclean = ${folder}/clean\n\tsmudge = ${folder}/smudge\n\trequired = true\n`,
  });
  for (const name of ['clean', 'smudge']) chmodSync(join(folder, name), 0o755);
  const env = { ...GIT_ENV, GIT_CONFIG_GLOBAL: join(folder, 'config') };
  const mirror = await mirrorOf(url, { env });
  const one = await legTreeOf(mirror, { head: first, env });
  const keeper = await keeperOf(one.tree, env);
  keeper.git.shared = first;
  const agent = (...args: string[]) => one.git('-c', `include.path=${folder}/config`, ...args);
  /** Has another machine go on with the tree. */
  const handOver = async () => {
    const kept = await keepLegTree(keeper, ABOUT);
    const ref = 'refs/ralph/t/1.1.1';
    await mirror.push(kept.commit, ref, { objects: keeper.git.repository.objects });
    const head = kept.head ?? '';
    const later = await mirrorOf(url, { env });
    return legTreeOf(later, { head, snapshot: { commit: kept.commit, ref }, env });
  };
  const read = (tree: string, name: string) => readFileSync(join(tree, name), 'utf8');
  return { folder, first, one, keeper, agent, env, handOver, read };
}

test.for(['before a handover', 'after it'])(
  'a file that the agent has committed comes into the result as a file, %s',
  async (when) => {
    const { folder, first, one, keeper, agent, env, handOver, read } = await stage();
    await keepLegTree(keeper, ABOUT);
    put(one.tree, { 'a.big': 'content new\n', 'c.big': 'content more\n' });
    // Of a file as young as the index git does not know by its time that it is unchanged.
    for (const name of ['a.big', 'c.big']) utimesSync(join(one.tree, name), 1e9, 1e9);
    agent('add', '--all');
    agent('commit', '-q', '-m', 'of the agent');
    expect(one.git('show', 'HEAD:a.big')).toBe('pointer new');
    const two = when === 'after it' ? await handOver() : one;
    const names = ['a.big', 'b.big', 'c.big'];
    const contents = ['content new\n', 'content two\n', 'content more\n'];
    expect(names.map((name) => read(two.tree, name))).toEqual(contents);
    const status = ['-c', `include.path=${folder}/config`, 'status', '--porcelain'];
    expect(two.git(...status)).toBe('');
    const its = two === one ? keeper : await keeperOf(two.tree, env);
    its.git.shared = first;
    const { commit } = await makeResult({
      ...{ keeper: its, kept: await keepLegTree(its, ABOUT), base: first, facts: FACTS, env },
      ...{ folder: join(two.leg, 'result'), signal: NO_SIGNAL },
    });
    expect(names.map((name) => two.git('show', `${commit}:${name}`))).toEqual([
      ...['content new', 'pointer two', 'content more'],
    ]);
  },
);

test('a file that its filter cannot write is what git stores, and is named', async () => {
  const { folder, handOver, read } = await stage();
  rmSync(join(folder, 'store/one'));
  const two = await handOver();
  expect(two.unfiltered).toEqual(['a.big']);
  expect(read(two.tree, 'a.big')).toBe('pointer one\n');
  expect(read(two.tree, 'b.big')).toBe('content two\n');
});
