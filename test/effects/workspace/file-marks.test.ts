import { createHash } from 'node:crypto';
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { appendFile, chmod, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { NOTHING_SEEN } from '../../../src/core/completion/sightings.ts';
import { takeBaseline } from '../../../src/effects/workspace/baseline.ts';
import { markFile } from '../../../src/effects/workspace/file-marks.ts';
import { createObserver, type ObserverRequest } from '../../../src/effects/workspace/observer.ts';
import { observerRequest } from '../../fixtures/observer-request.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

type Files = Readonly<Record<string, string>>;

/** A folder with files as they are at the start, and a look at what has become of them. */
async function stage(files: Files, globs: readonly string[], more: Partial<ObserverRequest> = {}) {
  const folder = await tempFolder();
  await put(folder, files);
  const request = observerRequest({ cwd: folder, globs, ...more });
  // As it comes back from baseline.json on `resume`.
  const baseline = JSON.parse(JSON.stringify(await takeBaseline(request)));
  const look = async () => (await createObserver(request, baseline).look()).watchMatches;
  return { folder, look, at: (name: string) => join(folder, name) };
}

async function put(folder: string, files: Files): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

/** Sets the times of a file back to what they were: what a sly program could do. */
async function keepTimes(file: string, action: () => Promise<void>): Promise<void> {
  const { atime, mtime } = statSync(file);
  await action();
  await utimes(file, atime, mtime);
}

describe('what is no file on a disk', () => {
  // Some of these never end, and hold up whoever reads them.
  test.runIf(process.platform === 'linux')(
    'a file without a disk is not read beyond the size that it reports',
    async () => {
      const nothing = createHash('sha256').digest('hex');
      expect(readFileSync('/proc/self/status', 'utf8')).not.toBe('');
      expect(await markFile('/proc/self/status')).toMatchObject({ size: 0, sha256: nothing });
      const { protected: marks } = await takeBaseline(
        observerRequest({ cwd: '/proc', protect: ['self/status', '/proc/version'] }),
      );
      expect(Object.values(marks).map(({ sha256 }) => sha256)).toEqual([nothing, nothing]);
    },
  );

  test.for([1_000, 3 * 1024 * 1024])(
    'is no matter: a file of %i bytes is read whole',
    async (size) => {
      const file = join(await tempFolder(), 'a.bin');
      const bytes = Buffer.alloc(size, 'abc');
      await writeFile(file, bytes);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      expect(await markFile(file)).toMatchObject({ size, sha256 });
    },
  );
});

describe('a file matches', () => {
  test('a new file matches', async () => {
    const { folder, look } = await stage({ 'old.md': 'old' }, ['*.md']);
    expect(await look()).toEqual([]);
    await put(folder, { 'new.md': 'new', 'new.txt': 'no match' });
    expect(await look()).toEqual(['new.md']);
  });

  test('a new empty file matches', async () => {
    const { folder, look } = await stage({}, ['done.flag']);
    await put(folder, { 'done.flag': '' });
    expect(await look()).toEqual(['done.flag']);
  });

  test('a file that has grown matches', async () => {
    const { look, at } = await stage({ 'a.md': 'a' }, ['*.md']);
    await appendFile(at('a.md'), 'b');
    expect(await look()).toEqual(['a.md']);
  });

  test('a changed file with its old size and its old times matches', async () => {
    const { look, at } = await stage({ 'a.md': 'one' }, ['*.md']);
    await keepTimes(at('a.md'), () => writeFile(at('a.md'), 'two'));
    expect(await look()).toEqual(['a.md']);
  });

  test('a file that replaced one of other content matches', async () => {
    const { folder, look, at } = await stage({ 'a.md': 'one' }, ['*.md']);
    await put(folder, { 'a.tmp': 'two' });
    await rename(at('a.tmp'), at('a.md'));
    expect(await look()).toEqual(['a.md']);
  });

  test('a file that was deleted, missed at a look, and came back with other content matches', async () => {
    const { folder, look, at } = await stage({ 'a.md': 'one' }, ['*.md']);
    await rm(at('a.md'));
    expect(await look()).toEqual([]);
    await put(folder, { 'a.md': 'two' });
    expect(await look()).toEqual(['a.md']);
  });

  test('a file in a new folder matches', async () => {
    const { folder, look } = await stage({}, ['out/**/*.md']);
    await put(folder, { 'out/deep/er/a.md': '' });
    expect(await look()).toEqual(['out/deep/er/a.md']);
  });

  test('files match any of several globs; each is named once, in order', async () => {
    const { folder, look } = await stage({}, ['*.md', 'a.*', 'b.txt']);
    await put(folder, { 'b.txt': '', 'a.md': '', 'c.md': '' });
    expect(await look()).toEqual(['a.md', 'b.txt', 'c.md']);
  });

  test('a match still counts at a later look', async () => {
    const { folder, look } = await stage({}, ['*.md']);
    await put(folder, { 'a.md': '' });
    expect([await look(), await look()]).toEqual([['a.md'], ['a.md']]);
  });

  test('a file that was there from the start matches only if existing files count', async () => {
    const files = { 'a.md': 'a' };
    expect(await (await stage(files, ['*.md'])).look()).toEqual([]);
    expect(await (await stage(files, ['*.md'], { existing: true })).look()).toEqual(['a.md']);
  });

  test('a file whose name begins with a dot matches a pattern that writes out the dot', async () => {
    const { folder, look } = await stage({}, ['.done', 'out/.*', '.github/*.yml']);
    await put(folder, { '.done': '', 'out/.flag': '', 'out/plain': '', '.github/ci.yml': '' });
    expect(await look()).toEqual(['.done', '.github/ci.yml', 'out/.flag']);
  });
});

describe('a file does not match', () => {
  test('a file that was only touched does not match', async () => {
    const { look, at } = await stage({ 'a.md': 'a' }, ['*.md']);
    await utimes(at('a.md'), 1, 1);
    expect(await look()).toEqual([]);
  });

  test('a file that was rewritten or replaced with the same content does not match', async () => {
    const { folder, look, at } = await stage({ 'a.md': 'a', 'b.md': 'b' }, ['*.md']);
    await writeFile(at('a.md'), 'a');
    await put(folder, { tmp: 'b' });
    await rename(at('tmp'), at('b.md'));
    expect(await look()).toEqual([]);
  });

  test('a file that was changed and changed back does not match', async () => {
    const { look, at } = await stage({ 'a.md': 'a' }, ['*.md']);
    await writeFile(at('a.md'), 'b');
    await writeFile(at('a.md'), 'a');
    expect(await look()).toEqual([]);
  });

  test('a deleted file does not match', async () => {
    const { look, at } = await stage({ 'a.md': 'a' }, ['*.md']);
    await rm(at('a.md'));
    expect(await look()).toEqual([]);
  });

  test('a folder or a link does not match', async () => {
    const { folder, look, at } = await stage({ 'target.txt': 't', 'a.md': 'a' }, [
      '*.md',
      'deep/**',
    ]);
    await mkdir(at('folder.md'));
    await mkdir(at('deep'));
    await symlink(at('target.txt'), at('link.md'));
    await symlink(folder, at('deep/loop'));
    await symlink('nowhere', at('dangling.md'));
    expect(await look()).toEqual([]);
  });

  test('a file that was replaced by a link to another one does not match', async () => {
    const { look, at } = await stage({ 'a.md': 'a', 'other.txt': 'other' }, ['*.md']);
    await rm(at('a.md'));
    await symlink(at('other.txt'), at('a.md'));
    expect(await look()).toEqual([]);
  });

  test('nothing matches in a folder that was never there', async () => {
    expect(await (await stage({}, ['nowhere/*.md', '/nowhere/at/all/*'])).look()).toEqual([]);
  });
});

describe('patterns', () => {
  test('patterns may be absolute and may lead upward', async () => {
    const outside = await tempFolder();
    await put(outside, { 'work/keep': '', 'old.md': 'old' });
    const cwd = join(outside, 'work');
    const request = observerRequest({
      cwd,
      globs: ['../*.md', join(outside, 'abs', '*.txt')],
    });
    const baseline = await takeBaseline(request);
    const { look } = createObserver(request, baseline);
    expect((await look()).watchMatches).toEqual([]);
    await put(outside, { 'new.md': '', 'abs/a.txt': '' });
    expect((await look()).watchMatches).toEqual(['../abs/a.txt', '../new.md']);
  });

  test('patterns match names with blanks, quotes and letters of any kind', async () => {
    const names = ['a b.md', 'ü ñ.md', "it's.md", '$HOME.md', '-n.md', 'new\nline.md'];
    const { folder, look } = await stage({}, ['*.md']);
    await put(folder, Object.fromEntries(names.map((name) => [name, ''])));
    expect((await look()).length).toBe(names.length);
    expect(new Set(await look())).toEqual(new Set(names));
  });

  test('patterns match names that look like patterns', async () => {
    const names = ['[draft] a.md', '(b).md', '{c}.md', 'd!.md', '+e.md', 'f*.md', 'g?.md'];
    const { folder, look, at } = await stage({ 'pages/[id].md': 'x' }, ['*.md', 'pages/*.md']);
    await put(folder, Object.fromEntries(names.map((name) => [name, ''])));
    expect(new Set(await look())).toEqual(new Set(names));
    await writeFile(at('pages/[id].md'), 'changed');
    expect(await look()).toContain('pages/[id].md');
  });

  test('a pattern that is the plain name of a file matches it, brackets and all', async () => {
    const globs = ['report [final].md', 'pages/[id]/page.tsx', 'a (1).txt'];
    const { folder, look } = await stage({}, globs);
    await put(folder, Object.fromEntries(globs.map((name) => [name, ''])));
    expect(new Set(await look())).toEqual(new Set(globs));
  });

  test('patterns work in a folder whose own name looks like a pattern', async () => {
    const outside = await tempFolder();
    const cwd = join(outside, '[my] (work) {x} !');
    await put(cwd, { 'old.md': '' });
    const request = observerRequest({
      cwd,
      globs: ['*.md', join(cwd, 'sub', '*.txt')],
    });
    const { look } = createObserver(request, await takeBaseline(request));
    expect((await look()).watchMatches).toEqual([]);
    await put(cwd, { 'new.md': '' });
    expect((await look()).watchMatches).toEqual(['new.md']);
  });

  test('patterns may begin with ./ and contain braces', async () => {
    const { folder, look } = await stage({}, ['./out/{a,b}.md']);
    await put(folder, { 'out/a.md': '', 'out/b.md': '', 'out/c.md': '' });
    expect(await look()).toEqual(['out/a.md', 'out/b.md']);
  });

  test('patterns cope with 10,000 files', async () => {
    const folder = await tempFolder();
    for (let n = 0; n < 10_000; n += 1) writeFileSync(join(folder, `${n}.md`), '');
    const request = observerRequest({ cwd: folder, globs: ['*.md'] });
    const baseline = await takeBaseline(request);
    expect(Object.keys(baseline.watched)).toHaveLength(10_000);
    utimesSync(join(folder, '1.md'), 1, 1);
    writeFileSync(join(folder, '9999.md'), 'x');
    const { watchMatches } = await createObserver(request, baseline).look();
    expect(watchMatches).toEqual(['9999.md']);
  });
});

describe('a file that cannot be read', () => {
  test('an unreadable file counts as new if it was not there before', async () => {
    const stand = await stage({}, ['*.md']);
    await put(stand.folder, { 'a.md': 'a' });
    await chmod(stand.at('a.md'), 0);
    expect(await stand.look()).toEqual(['a.md']);
  });

  test('an unreadable file that was there from the start is not new', async () => {
    const folder = await tempFolder();
    await put(folder, { 'a.md': 'a' });
    await chmod(folder, 0o755);
    await chmod(join(folder, 'a.md'), 0);
    await asNobody(async () => {
      const request = observerRequest({ cwd: folder, globs: ['*.md'] });
      const { look } = createObserver(request, await takeBaseline(request));
      expect((await look()).watchMatches).toEqual([]);
    });
  });

  test('a file that has become unreadable has not changed by that', async () => {
    const { folder, look, at } = await stage({ 'a.md': 'a' }, ['*.md']);
    await chmod(folder, 0o755);
    await chmod(at('a.md'), 0);
    await asNobody(async () => expect(await look()).toEqual([]));
  });

  test('an unreadable file or folder does not hide the others', async () => {
    const { folder, look, at } = await stage({ 'locked/a.md': 'a' }, ['**/*.md']);
    await put(folder, { 'z.md': '' });
    await chmod(folder, 0o755);
    await chmod(at('locked'), 0);
    await asNobody(async () => expect(await look()).toEqual(['z.md']));
  });

  /** Root may read everything: for so long nobody is root. */
  async function asNobody(action: () => Promise<void>): Promise<void> {
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);
    try {
      await action();
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  }
});

describe('the watched file', () => {
  async function stageMove(files: Files) {
    const folder = await tempFolder();
    await put(folder, files);
    const donePath = join(folder, 'Done', 'task.md');
    const request = observerRequest({ cwd: folder, donePath });
    const baseline = JSON.parse(JSON.stringify(await takeBaseline(request)));
    const observer = createObserver(request, baseline);
    const look = async () => (await observer.look()).movedFile;
    return { folder, donePath, look };
  }

  test('the watched file has moved once it stands in the done folder', async () => {
    const { folder, donePath, look } = await stageMove({ 'task.md': 'task' });
    expect(await look()).toBe(null);
    await mkdir(dirname(donePath));
    await rename(join(folder, 'task.md'), donePath);
    expect(await look()).toBe(donePath);
  });

  test('the watched file has not moved if one of its name was there before, unless the content differs', async () => {
    const { folder, donePath, look } = await stageMove({ 'task.md': 'new', 'Done/task.md': 'old' });
    expect(await look()).toBe(null);
    await utimes(donePath, 1, 1);
    expect(await look()).toBe(null);
    await rename(join(folder, 'task.md'), donePath);
    expect(await look()).toBe(donePath);
  });

  test('a folder or a link in its place is not the watched file', async () => {
    const { folder, donePath, look } = await stageMove({ 'task.md': 'task' });
    await mkdir(donePath, { recursive: true });
    expect(await look()).toBe(null);
    await rm(donePath, { recursive: true });
    await symlink(join(folder, 'task.md'), donePath);
    expect(await look()).toBe(null);
  });

  test('without a watched file none is found', async () => {
    const { folder } = await stageMove({});
    const request = observerRequest({ cwd: folder });
    const baseline = await takeBaseline(request);
    expect(baseline).toEqual({ watched: {}, done: null, protected: {}, plan: null });
    expect(await createObserver(request, baseline).look()).toEqual({
      ...NOTHING_SEEN,
      planAtStart: null,
    });
  });
});

describe('a file that was marked before', () => {
  test('a marked file is not read again if nothing has written to it', async () => {
    const file = fileURLToPath(import.meta.url);
    const first = await markFile(file);
    expect(first).not.toBe(null);
    expect(await markFile(file, first ?? undefined)).toBe(first);
  });

  test('a marked file is read again if something has written to it, even in the same instant', async () => {
    const folder = await tempFolder();
    for (let round = 0; round < 50; round += 1) {
      const file = join(folder, `${round}.md`);
      writeFileSync(file, 'one');
      const first = await markFile(file);
      writeFileSync(file, 'two');
      const second = await markFile(file, first ?? undefined);
      expect(second?.sha256).not.toBe(first?.sha256);
    }
  });
});
