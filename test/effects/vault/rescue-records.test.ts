import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isTaskId } from '../../../src/core/task/task-id.ts';
import { openTaskIds } from '../../../src/effects/state/task-folder.ts';
import { readRescueRecord, rescueRecords } from '../../../src/effects/vault/rescue-records.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const FIRST = '2026-01-05T10:00:00.000Z';
const SECOND = '2026-01-05T11:00:00.000Z';

test('a failed rescue is kept, and counted once', async () => {
  const folder = await tempFolder();
  for (const at of [FIRST, SECOND, FIRST]) {
    await rescueRecords(folder).countFailed('stuck_a', at);
  }
  expect(readRescueRecord(folder, 'stuck_a').failed).toEqual([FIRST, SECOND]);
  expect(readRescueRecord(folder, 'stuck_b').failed).toEqual([]);
});

test('what began before the record was closed is over', async () => {
  const folder = await tempFolder();
  const records = rescueRecords(folder);
  await records.adopt('stuck_a');
  writeFileSync(join(folder, 'stuck_a.json'), '{}');
  await records.close('stuck_a', SECOND);
  expect(readRescueRecord(folder, 'stuck_a').is_ours).toBe(false);
  expect(await records.countFailed('stuck_a', FIRST)).toBe(0);
  expect(await records.countFailed('stuck_a', SECOND)).toBe(1);
});

test('a record is removed with a rescue that has left no state', async () => {
  const folder = await tempFolder();
  const records = rescueRecords(folder);
  await records.countFailed('stuck_a', FIRST);
  await records.close('stuck_a', SECOND);
  expect(await records.countFailed('stuck_a', FIRST)).toBe(1);
});

test('a damaged record begins anew', async () => {
  const folder = await tempFolder();
  await rescueRecords(folder).countFailed('stuck_a', FIRST);
  writeFileSync(join(folder, '.rescue/stuck_a.json'), '{"failed": 3');
  expect(readRescueRecord(folder, 'stuck_a').failed).toEqual([]);
});

test('its folder is nobody’s task', async () => {
  const folder = await tempFolder();
  await rescueRecords(folder).countFailed('stuck_a', FIRST);
  expect(openTaskIds(folder)).toEqual([]);
  expect(isTaskId('.rescue')).toBe(false);
});
