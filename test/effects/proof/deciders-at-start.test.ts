import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  decidersJson,
  programsOf,
  storedDeciders,
  takeDeciders,
  withNewChecks,
} from '../../../src/effects/proof/deciders-at-start.ts';
import { put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

async function taken() {
  const [cwd, bin] = [await tempFolder(), await tempFolder()];
  put(cwd, { 'check.sh': 'true\n' });
  writeFileSync(join(bin, 'judge'), '#!/bin/sh\n');
  chmodSync(join(bin, 'judge'), 0o755);
  const checks = ['sh check.sh', 'judge work.txt', 'nowhere'];
  const place = { cwd, checks, isOwn: () => false };
  return { cwd, bin, checks, deciders: await takeDeciders(place, { PATH: bin }) };
}

test('what decides is known by hash, and each program by where it is found on PATH', async () => {
  const { bin, checks, deciders } = await taken();
  expect(deciders).toMatchObject({ checks, path: bin });
  expect(deciders.folder.files['check.sh']).toMatch(/^[0-9a-f]{64}$/);
  expect(programsOf(deciders)).toEqual(
    new Map([
      ['judge', join(bin, 'judge')],
      ['nowhere', null],
      ['sh', null],
    ]),
  );
});

test('it is the same once it was stored and read', async () => {
  const { deciders } = await taken();
  const folder = await tempFolder();
  writeFileSync(join(folder, 'deciders.json'), decidersJson(deciders));
  expect(storedDeciders(folder)).toEqual(deciders);
});

test.for(['', '[]', '{"checks":[]}', '{"checks":"a","folder":{},"path":"","programs":{}}'])(
  'a damaged file is read as none: %s',
  async (text) => {
    const folder = await tempFolder();
    expect(storedDeciders(folder)).toBeNull();
    writeFileSync(join(folder, 'deciders.json'), text);
    expect(storedDeciders(folder)).toBeNull();
  },
);

test('checks that a resume adds leave what is known of the start as it is', async () => {
  const { cwd, bin, deciders } = await taken();
  put(cwd, { 'check.sh': 'exit 0\n', 'more.sh': 'true\n' });
  const checks = ['sh check.sh', 'sh more.sh', 'judge work.txt'];
  const place = { cwd, checks, isOwn: () => false };
  const now = await takeDeciders(place, { PATH: `${cwd}:${bin}` });
  const both = withNewChecks(deciders, now);
  expect(both.folder.files['check.sh']).toBe(deciders.folder.files['check.sh']);
  expect(both.folder.files['more.sh']).toMatch(/^[0-9a-f]{64}$/);
  expect(both.checks).toEqual(checks);
  const moved = { ...now, path: bin, programs: { ...now.programs, judge: '/elsewhere/judge' } };
  expect(withNewChecks(deciders, moved).programs.judge).toBe(join(bin, 'judge'));
});
