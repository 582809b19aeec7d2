import { existsSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  clearDeadLegs,
  keepLegFolder,
  makeLegFolder,
} from '../../../src/compose/leg/worker-home.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const DAY_MS = 24 * 3_600_000;

function makeOlder(file: string, ms: number): void {
  const then = new Date(Date.now() - ms);
  utimesSync(file, then, then);
}

test('the tree of a task that failed stays for three days, also while its worker lives', async () => {
  const home = await tempFolder();
  const [old, young, running] = ['old', 'young', 'running'].map((id) =>
    makeLegFolder(home, id, 1, 'run'),
  );
  for (const each of [old, young]) keepLegFolder(each?.folder ?? '');
  makeOlder(join(old?.folder ?? '', 'kept'), 3 * DAY_MS + 1_000);
  expect(await clearDeadLegs(home)).toEqual(['old.1']);
  expect([old, young, running].map((each) => existsSync(each?.folder ?? ''))).toEqual([
    false,
    true,
    true,
  ]);
});

test('a leg that another worker is just making stays', async () => {
  const home = await tempFolder();
  const { folder } = makeLegFolder(home, 'new', 1, 'run');
  rmSync(join(folder, 'owner.json'));
  expect(await clearDeadLegs(home)).toEqual([]);
  makeOlder(folder, 61_000);
  expect(await clearDeadLegs(home)).toEqual(['new.1']);
});
