import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findOwnSandbox, withoutOwnSandbox } from '../../../src/effects/claude/own-sandbox.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const OFF = '{"sandbox":{"enabled":false}}';

test('its own sandbox is switched off by one more argument', () => {
  expect(withoutOwnSandbox(['--effort', 'max'], '/')).toEqual([
    '--effort',
    'max',
    `--settings=${OFF}`,
  ]);
});

test('the settings of the user keep what else they say, in JSON and in a file', async () => {
  const folder = await tempFolder();
  await writeFile(join(folder, 'mine.json'), '{"sandbox":{"enabled":true,"x":1},"model":"m"}');
  const changed = '--settings={"sandbox":{"enabled":false,"x":1},"model":"m"}';
  expect(withoutOwnSandbox(['--settings', 'mine.json', '-d'], folder)).toEqual([changed, '-d']);
  expect(withoutOwnSandbox(['--settings={"model":"m"}'], folder)).toEqual([
    '--settings={"model":"m","sandbox":{"enabled":false}}',
  ]);
  expect(withoutOwnSandbox(['--settings', 'gone.json'], folder)).toEqual([
    '--settings',
    'gone.json',
  ]);
});

test('a sandbox that its settings switch on is told', async () => {
  const folder = await tempFolder();
  await mkdir(join(folder, '.claude'));
  const file = join(folder, '.claude', 'settings.local.json');
  await writeFile(file, '{"sandbox":{"enabled":false}}');
  expect(findOwnSandbox(folder, {})).toEqual([]);
  await writeFile(file, '{"sandbox":{"enabled":true}}');
  expect(findOwnSandbox(folder, {})).toEqual([
    `${file} switches claude's own sandbox on: it is off in this run, since ralph's is around it.`,
  ]);
});
