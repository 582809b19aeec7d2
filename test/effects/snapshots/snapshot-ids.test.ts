import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSnapshotIds } from '../../../src/effects/snapshots/snapshot-ids.ts';
import { newTask } from '../../helpers/new-task.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { testSeal } from '../../helpers/test-seal.ts';

const idOf = (name: string) => ({ name, commit: name.padStart(40, '0') });

async function stage() {
  const folder = await tempFolder();
  const place = { folder, seal: testSeal(folder), task: newTask() };
  return {
    file: join(folder, 'snapshots.json'),
    open: (isNew = false) => openSnapshotIds(place, isNew),
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
