import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isTaskId } from '../../../src/core/task/task-id.ts';
import { openTaskIds } from '../../../src/effects/state/task-folder.ts';
import {
  changeRescueRecord,
  closedRecord,
  readRescueRecord,
  withFailed,
} from '../../../src/effects/vault/rescue-records.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const FIRST = '2026-01-05T10:00:00.000Z';
const SECOND = '2026-01-05T11:00:00.000Z';

test('a failed rescue is kept, and counted once', async () => {
  const folder = await tempFolder();
  for (const at of [FIRST, SECOND, FIRST]) {
    await changeRescueRecord(folder, 'stuck_a', (before) => withFailed(before, at));
  }
  expect(readRescueRecord(folder, 'stuck_a').failed).toEqual([FIRST, SECOND]);
  expect(readRescueRecord(folder, 'stuck_b').failed).toEqual([]);
});

test('what began before the record was closed is over', async () => {
  const closed = closedRecord(SECOND);
  expect(withFailed(closed, FIRST).failed).toEqual([]);
  expect(withFailed(closed, SECOND).failed).toEqual([SECOND]);
});

test('a damaged record begins anew', async () => {
  const folder = await tempFolder();
  await changeRescueRecord(folder, 'stuck_a', (before) => withFailed(before, FIRST));
  writeFileSync(join(folder, '.rescue/stuck_a.json'), '{"failed": 3');
  expect(readRescueRecord(folder, 'stuck_a').failed).toEqual([]);
});

test('its folder is nobody’s task', async () => {
  const folder = await tempFolder();
  await changeRescueRecord(folder, 'stuck_a', (before) => withFailed(before, FIRST));
  expect(openTaskIds(folder)).toEqual([]);
  expect(isTaskId('.rescue')).toBe(false);
});
