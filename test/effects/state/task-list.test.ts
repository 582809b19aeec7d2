import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findTaskEntry, listTasks } from '../../../src/effects/state/task-list.ts';
import { newTask } from '../../helpers/new-task.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** A state folder with files of these contents; objects are states with those fields. */
async function stateFolder(files: Readonly<Record<string, object | string>>): Promise<string> {
  const folder = await tempFolder();
  mkdirSync(join(folder, 'history'));
  for (const [name, content] of Object.entries(files)) {
    const id = name.replace(/^history\//, '').replace(/\.json$/, '');
    const text =
      typeof content === 'string'
        ? content
        : JSON.stringify({ ...newTask(), task_id: id, ...content });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

describe('the list', () => {
  test('has an open task as open, whatever the state folder is called', async () => {
    const folder = join(await tempFolder(), 'history');
    mkdirSync(folder);
    writeFileSync(join(folder, 'a.json'), JSON.stringify({ ...newTask(), task_id: 'a' }));
    expect(listTasks(folder, 10).open.map(({ archived }) => archived)).toEqual([false]);
  });

  test('has what is open, whatever state its file is in', async () => {
    const folder = await stateFolder({
      'a.json': {},
      'b.json': '{"torn',
      'c.json': { schema_version: 99 },
      'events.jsonl': '{}',
      'a.json.corrupt-1': 'x',
      '.hidden.json': '{}',
    });
    mkdirSync(join(folder, 'd.json'));
    const found = listTasks(folder, 10).open.map(({ name, found }) => [name, found.kind]);
    expect(found.sort()).toEqual([
      ['a', 'task'],
      ['b', 'corrupt'],
      ['c', 'too-new'],
    ]);
  });

  test('has of the history only the newest', async () => {
    const names = Array.from({ length: 15 }, (_, n) => `old-${n}`);
    const folder = await stateFolder(
      Object.fromEntries(names.map((name) => [`history/${name}.json`, {}])),
    );
    names.forEach((name, n) => {
      utimesSync(join(folder, 'history', `${name}.json`), 1_000 + n, 1_000 + n);
    });
    const { open, ended } = listTasks(folder, 3);
    expect(open).toEqual([]);
    expect(ended.map(({ name }) => name)).toEqual(['old-14', 'old-13', 'old-12']);
    expect(ended.every(({ archived }) => archived)).toBe(true);
  });

  test('follows no link', async () => {
    const elsewhere = await stateFolder({ 'secret.json': {}, 'history/other.json': {} });
    const folder = await stateFolder({});
    symlinkSync(join(elsewhere, 'secret.json'), join(folder, 'secret.json'));
    expect(listTasks(folder, 10)).toEqual({ open: [], ended: [] });
    expect(findTaskEntry(folder, 'secret')).toBeNull();
    const linked = await tempFolder();
    symlinkSync(join(elsewhere, 'history'), join(linked, 'history'));
    expect(listTasks(linked, 10)).toEqual({ open: [], ended: [] });
    expect(findTaskEntry(linked, 'other')).toBeNull();
  });

  test('is empty where there is no folder, and makes none', async () => {
    const folder = await tempFolder();
    expect(listTasks(join(folder, 'none'), 10)).toEqual({ open: [], ended: [] });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a task by its id', () => {
  test('is the open one, else the one in the history, else its newest older run', async () => {
    const first = { task_id: 'a', started_at: '2026-01-01T00:00:00.000Z' };
    const second = { task_id: 'a', started_at: '2026-01-02T00:00:00.000Z' };
    const files = {
      'history/a.2026-01-01T000000.000Z.json': first,
      'history/a.2026-01-02T000000.000Z.json': second,
      'history/a.b.json': {},
    };
    const older = await stateFolder(files);
    expect(findTaskEntry(older, 'a')?.name).toBe('a.2026-01-02T000000.000Z');
    const history = await stateFolder({ ...files, 'history/a.json': {} });
    expect(findTaskEntry(history, 'a')).toMatchObject({ name: 'a', archived: true });
    const open = await stateFolder({ ...files, 'history/a.json': {}, 'a.json': {} });
    expect(findTaskEntry(open, 'a')).toMatchObject({ name: 'a', archived: false });
    expect(findTaskEntry(open, 'a.b')?.name).toBe('a.b');
  });

  test('is not what happens to begin like it', async () => {
    const folder = await stateFolder({ 'history/a.b.json': {} });
    expect(findTaskEntry(folder, 'a')).toBeNull();
  });

  test.for(['../x', 'history', '', '.', '-x', 'a/b'])('cannot be %j', async (id) => {
    expect(findTaskEntry(await stateFolder({ 'x.json': {} }), id)).toBeNull();
  });
});
