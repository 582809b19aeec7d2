import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type IdsPlace, openSnapshotIds } from '../../../src/effects/snapshots/snapshot-ids.ts';
import { newTask } from '../../helpers/new-task.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { testSeal } from '../../helpers/test-seal.ts';

const idOf = (name: string) => ({ name, commit: name.padStart(40, '0') });

async function stage() {
  const folder = await tempFolder();
  const place = { folder, seal: testSeal(folder), task: newTask() };
  return {
    file: join(folder, 'snapshots.json'),
    open: (isNew = false, more: Partial<IdsPlace['task']> = {}) =>
      openSnapshotIds({ ...place, task: { ...place.task, ...more } }, isNew),
  };
}

test('two writers lose no id of each other, and a new task has none', async () => {
  const { open } = await stage();
  const driver = open(true);
  await driver.add(idOf('0'));
  const landing = open();
  await driver.add(idOf('1'));
  await landing.add(idOf('9'));
  await driver.add(idOf('2'));
  expect(open().all.map(({ name }) => name)).toEqual(['0', '1', '9', '2']);
  expect([open().isFromStart, open(true).all]).toEqual([true, []]);
});

test('what somebody else wrote is not sealed along', async () => {
  const { file, open } = await stage();
  const ids = open(true);
  await ids.add(idOf('0'));
  writeFileSync(file, readFileSync(file, 'utf8').replace('"0","commit":"00', '"8","commit":"00'));
  await ids.add(idOf('1'));
  expect(open().all.map(({ name }) => name)).toEqual(['0', '1']);
});

test('the refs of each new task carry a mark, and git takes them whatever the task is called', async () => {
  const found = [];
  for (const task_id of ['t', 't', 'x.lock', 'a..b', 'x.']) {
    const { open } = await stage();
    found.push(open(true, { task_id }).refs);
  }
  expect(new Set(found).size).toBe(found.length);
  for (const refs of found) {
    expect(refs).toMatch(/^refs\/ralph\/[\w.%]+@[0-9a-f]{8}$/);
    execFileSync('git', ['check-ref-format', `${refs}/0`]);
  }
});

test('after a driver was killed early, the next one continues with its refs', async () => {
  const { file, open } = await stage();
  const killed = open(true);
  await killed.add(idOf('0'));
  // It never saved when it was started.
  const later = open(true, { started_at: '2030-01-01T00:00:00.000Z' });
  expect([later.refs, later.all]).toEqual([killed.refs, []]);
  const snapshots = 'refs/ralph/noted';
  expect(open(false, { git: { ...newTask().git, snapshots } }).refs).toBe(snapshots);
  writeFileSync(file, readFileSync(file, 'utf8').replace(killed.refs, 'refs/ralph/../../x'));
  expect(open(true).refs).toMatch(/^refs\/ralph\/[\w.%-]+@[0-9a-f]{8}$/);
});
