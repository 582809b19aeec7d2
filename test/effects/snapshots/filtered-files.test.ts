import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { restoreFiles } from '../../../src/effects/snapshots/restore/restore-files.ts';
import { compareTrees } from '../../../src/effects/snapshots/trees.ts';
import { GIT_ENV, gitIn, makeRepository, put } from '../../helpers/repository.ts';
import { snapshotsOf } from '../../helpers/snapshots.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** `tr` as a filter: git stores large letters, the work tree has small ones. */
const FILTER = `[filter "loud"]\n\tclean = tr a-z A-Z\n\tsmudge = tr A-Z a-z\n`;

/** Files as young as the index are compared by content, for which no filter runs. */
function age(folder: string, ...names: readonly string[]): void {
  for (const name of names) utimesSync(join(folder, name), 1_000_000_000, 1_000_000_000);
}

/** A repository with `f.loud` under the filter, which the user or the repository defines. */
async function stage(definedBy: 'user' | 'repository') {
  const { folder } = await makeRepository({
    'a.txt': 'a',
    '.gitattributes': '*.loud filter=loud\n',
  });
  const global = join(await tempFolder(), 'gitconfig');
  writeFileSync(global, FILTER);
  const user = { ...GIT_ENV, GIT_CONFIG_GLOBAL: global };
  put(folder, { 'f.loud': 'small', 'd/g.loud': 'also small' });
  age(folder, 'f.loud', 'd/g.loud');
  const config = join(folder, '.git', 'config');
  const before = readFileSync(config);
  appendFileSync(config, FILTER);
  const git = gitIn(folder);
  git('add', '--all');
  git('commit', '-q', '-m', 'loud');
  if (definedBy === 'user') writeFileSync(config, before);
  const env = definedBy === 'user' ? user : GIT_ENV;
  const { own, take } = await snapshotsOf(folder, {}, env);
  const show = (ref: string): string => git('cat-file', 'blob', `refs/ralph/t/${ref}`);
  /** Brings back what differs between the two snapshots. */
  const back = async (from: string, to: string) => {
    const trees = [from, to].map((name) => git('rev-parse', `refs/ralph/t/${name}`));
    const difference = await compareTrees(own, trees[0] ?? '', trees[1] ?? '');
    const entries = new Map([...(difference ?? [])].map(([name, { from: was }]) => [name, was]));
    const left = await restoreFiles({ git: own, entries, mayReplace: () => true });
    const blocked = [...left].map(([name, { kind }]) => `${name}: ${kind}`);
    return { restored: [...entries.keys()].filter((name) => !left.has(name)), blocked };
  };
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  return { folder, git, global, own, take, show, back, read };
}

test('a file that git holds for unchanged is kept as the index names it, a changed one raw', async () => {
  const { folder, take, show } = await stage('user');
  await take('0');
  expect(show('0:f.loud')).toBe('SMALL');
  put(folder, { 'f.loud': 'changed' });
  await take('1');
  expect(show('1:f.loud')).toBe('changed');
  expect(show('1:d/g.loud')).toBe('ALSO SMALL');
});

test('what was staged later is kept raw, since an agent can write the index', async () => {
  const { folder, git, take, show } = await stage('user');
  await take('0');
  put(folder, { 'f.loud': 'changed', 'a.txt': 'gutted' });
  // Any file can be named in the attributes, and any content put into the index for it.
  put(folder, { '.git/info/attributes': 'a.txt filter=loud\n' });
  age(folder, 'f.loud', 'a.txt');
  git('-c', 'filter.loud.clean=tr a-z A-Z', 'add', 'f.loud');
  git('-c', 'filter.loud.clean=printf a', 'add', 'a.txt');
  expect(git('diff-files', '--name-only')).toBe('');
  expect(await take('1')).toMatchObject({ changed: ['a.txt', 'f.loud'] });
  expect([show('1:f.loud'), show('1:a.txt')]).toEqual(['changed', 'gutted']);
  expect(show('1:d/g.loud')).toBe('ALSO SMALL');
});

test('a later process knows which files are as they were', async () => {
  const { folder, own, take, show, global } = await stage('user');
  await take('0');
  const [commit, tree] = ['', '^{tree}'].map((end) =>
    gitIn(folder)('rev-parse', `refs/ralph/t/0${end}`),
  );
  const newest = { name: '0', commit: commit ?? '', tree: tree ?? '' };
  const env = { ...GIT_ENV, GIT_CONFIG_GLOBAL: global };
  put(folder, { 'd/g.loud': 'hidden' });
  age(folder, 'd/g.loud');
  gitIn(folder)('-c', 'filter.loud.clean=printf "ALSO SMALL"', 'add', 'd/g.loud');
  const later = await snapshotsOf(folder, { newest }, env, own.folder);
  expect(await later.take('1')).toMatchObject({ changed: ['d/g.loud'] });
  expect([show('1:f.loud'), show('1:d/g.loud')]).toEqual(['SMALL', 'hidden']);
});

test('one whose folder became a link does not make another pass for unchanged', async () => {
  const { folder, take, show } = await stage('user');
  await take('0');
  renameSync(join(folder, 'd'), join(folder, 'moved'));
  symlinkSync('moved', join(folder, 'd'));
  await take('1');
  rmSync(join(folder, 'd'));
  put(folder, { 'f.loud': 'gutted' });
  await take('2');
  expect(show('2:f.loud')).toBe('gutted');
});

test('of LFS, a file that has the content of its pointer is kept as the index names it', async () => {
  const { folder, git, take, show } = await stage('user');
  const pointer = (text: string): string => {
    const hash = createHash('sha256').update(text).digest('hex');
    return `version https://git-lfs.github.com/spec/v1\noid sha256:${hash}\nsize ${text.length}\n`;
  };
  const stageAs = (name: string, text: string): void => {
    put(folder, { '.git/pointer': pointer(text) });
    git('-c', 'filter.lfs.clean=cat .git/pointer', 'add', name);
  };
  git('config', 'filter.lfs.smudge', 'cat');
  put(folder, { '.gitattributes': '*.bin filter=lfs\n', 'a.bin': 'one', 'b.bin': 'two' });
  age(folder, 'a.bin', 'b.bin');
  await take('0');
  stageAs('a.bin', 'one');
  stageAs('b.bin', 'six');
  await take('1');
  expect(show('1:a.bin')).toBe(pointer('one').trimEnd());
  expect(show('1:b.bin')).toBe('two');
});

test('one that is gone is gone, and one with flags that hide changes is kept raw', async () => {
  const { folder, git, take, show } = await stage('user');
  git('update-index', '--assume-unchanged', 'd/g.loud');
  put(folder, { 'd/g.loud': 'hidden change' });
  await take('0');
  rmSync(join(folder, 'f.loud'));
  await take('1');
  expect(show('0:d/g.loud')).toBe('hidden change');
  expect(git('ls-tree', '-r', '--name-only', 'refs/ralph/t/1')).not.toContain('f.loud');
});

test('the user’s own filter brings it back, and a raw one comes back raw', async () => {
  const { folder, take, back, read } = await stage('user');
  await take('0');
  put(folder, { 'f.loud': 'Raw AND Changed' });
  rmSync(join(folder, 'd'), { recursive: true });
  await take('1');
  rmSync(join(folder, 'f.loud'));
  await take('2');
  expect(await back('1', '2')).toMatchObject({ restored: ['f.loud'], blocked: [] });
  expect(read('f.loud')).toBe('Raw AND Changed');
  expect(await back('0', '2')).toMatchObject({ blocked: [] });
  expect([read('f.loud'), read('d/g.loud')]).toEqual(['small', 'also small']);
});

test('a filter of the repository never runs, and what it would bring back is named', async () => {
  const { folder, git, take, back, read } = await stage('repository');
  const sign = join(await tempFolder(), 'ran');
  const program = join(folder, '.git', 'evil.sh');
  writeFileSync(program, `#!/bin/sh\necho ran >> '${sign}'\ntr A-Z a-z\n`);
  chmodSync(program, 0o755);
  for (const what of ['clean', 'smudge']) git('config', `filter.loud.${what}`, program);
  await take('0');
  put(folder, { 'f.loud': 'changed', 'a.txt': 'b' });
  await take('1');
  expect(await back('0', '1')).toMatchObject({
    restored: ['a.txt'],
    blocked: ['f.loud: no-filter'],
  });
  expect([read('f.loud'), read('a.txt')]).toEqual(['changed', 'a']);
  expect(existsSync(sign)).toBe(false);
});

test('a filter that fails at one file costs one file', async () => {
  const { folder, global, take, back, read } = await stage('user');
  await take('0');
  rmSync(join(folder, 'f.loud'));
  rmSync(join(folder, 'd'), { recursive: true });
  await take('1');
  const smudge = `sh -c 'text=$(cat); case $text in ALSO*) exit 1;; *) echo fixed;; esac'`;
  writeFileSync(global, `[filter "loud"]\n\tsmudge = "${smudge}"\n`);
  expect(await back('0', '1')).toMatchObject({
    restored: ['f.loud'],
    blocked: ['d/g.loud: no-filter'],
  });
  expect(read('f.loud')).toBe('fixed\n');
  expect(existsSync(join(folder, 'd'))).toBe(false);
});
