import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hintBox, leaveHint } from '../../src/effects/hints.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

async function stage() {
  const task = join(await tempFolder(), 'T1');
  const folder = join(task, 'requests');
  const names = () => readdirSync(folder).sort();
  return { task, folder, names, box: hintBox(task) };
}

const at = (ms: number) => new Date(Date.UTC(2026, 0, 2) + ms).toISOString();

describe('hints', () => {
  it('are none where nobody ever left one', async () => {
    const { box } = await stage();
    expect(await box.hints()).toEqual([]);
  });

  it('come out as they went in, oldest first, whatever order they were written in', async () => {
    const { task, box } = await stage();
    const texts = ['  two\n\nlines\t ', 'ü 🙂', '---\nkey: x\n---\n', 'last'];
    for (const n of [2, 0, 3, 1]) await leaveHint(task, texts[n] ?? '', at(n * 7 * 3_600_000 + n));
    expect(await box.hints()).toEqual(texts);
  });

  it('of the same instant are both kept', async () => {
    const { task, box } = await stage();
    await Promise.all(['a', 'b', 'c'].map((text) => leaveHint(task, text, at(0))));
    expect([...(await box.hints())].sort()).toEqual(['a', 'b', 'c']);
  });

  it('are taken exactly once, by a later driver too', async () => {
    const { task, box, names } = await stage();
    await leaveHint(task, 'one', at(0));
    expect(await box.hints()).toEqual(['one']);
    expect(names()).toEqual([]);
    await leaveHint(task, 'two', at(1));
    expect(await box.hints()).toEqual(['two']);
    expect(await box.hints()).toEqual([]);
    expect(await hintBox(task).hints()).toEqual([]);
  });

  it('are taken once also where they cannot be put away', async () => {
    const { task, folder, box, names } = await stage();
    await leaveHint(task, 'one', at(0));
    await chmod(dirname(task), 0o755);
    await chmod(task, 0o755);
    await chmod(join(folder, names()[0] ?? ''), 0o644);
    await chmod(folder, 0o555);
    // Root may remove everything: for so long nobody is root.
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);
    try {
      expect([await box.hints(), await box.hints()]).toEqual([['one'], []]);
    } finally {
      if (isRoot) process.seteuid?.(0);
      await chmod(folder, 0o755);
    }
    expect(names()).toHaveLength(1);
  });

  it('wait for a driver that comes later', async () => {
    const { task } = await stage();
    await leaveHint(task, 'early', at(0));
    expect(await hintBox(task).hints()).toEqual(['early']);
  });

  it('without words are put away and not told', async () => {
    const { task, box, names } = await stage();
    await leaveHint(task, ' \n\t', at(0));
    await leaveHint(task, 'words', at(1));
    await leaveHint(task, '', at(2));
    expect(await box.hints()).toEqual(['words']);
    expect(names()).toEqual([]);
  });
});

describe('a hint is left', () => {
  it('whole, for the owner alone, and nothing else with it', async () => {
    const { task, folder, names } = await stage();
    await leaveHint(task, 'text', at(0));
    const [name = ''] = names();
    expect(names()).toEqual([expect.stringMatching(/^tell-20260102000000000-[\w-]+\.md$/)]);
    expect(readFileSync(join(folder, name), 'utf8')).toBe('text');
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('under its name only once it is there: what is half written is no hint', async () => {
    const { task, folder, box } = await stage();
    await leaveHint(task, 'x', at(0));
    await box.hints();
    // As the writer has it until it renames.
    await writeFile(join(folder, 'tell-20260102000000000-a.md.17-beef.tmp'), 'hal');
    expect(await box.hints()).toEqual([]);
  });

  it('or the error is told', async () => {
    const { task } = await stage();
    await writeFile(task, 'a file');
    await expect(leaveHint(task, 'x', at(0))).rejects.toThrow(/ENOTDIR|EEXIST/);
  });
});

describe('what else lies there', () => {
  it('is left alone and hides no hint, a pipe that nobody writes to included', async () => {
    const { task, folder, box, names } = await stage();
    await leaveHint(task, 'real', at(0));
    const junk = ['notes.md', 'tell.md', 'tell-1.txt', '.tell-1.md', 'stop-1.json', 'tell-1.md~'];
    for (const name of junk) await writeFile(join(folder, name), 'junk');
    await mkdir(join(folder, 'tell-2-folder.md'));
    await symlink('/etc/hostname', join(folder, 'tell-3-link.md'));
    execFileSync('mkfifo', [join(folder, 'tell-4-pipe.md')]);
    const rest = names().filter((name) => !name.startsWith('tell-2026'));
    expect(await box.hints()).toEqual(['real']);
    expect(names()).toEqual(rest);
    expect(rest).toHaveLength(junk.length + 3);
  });
});
