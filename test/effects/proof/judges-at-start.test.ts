import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  judgesJson,
  programsOf,
  storedJudges,
  takeJudges,
  withNewChecks,
} from '../../../src/effects/proof/judges-at-start.ts';
import { put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

async function taken() {
  const [cwd, bin] = [await tempFolder(), await tempFolder()];
  put(cwd, { 'check.sh': 'true\n' });
  writeFileSync(join(bin, 'judge'), '#!/bin/sh\n');
  chmodSync(join(bin, 'judge'), 0o755);
  const checks = ['sh check.sh', 'judge work.txt', 'nowhere'];
  const place = { cwd, checks, isOwn: () => false };
  return { cwd, bin, checks, judges: await takeJudges(place, { PATH: bin }) };
}

test('what decides is known by hash, and each program by where it is found on PATH', async () => {
  const { bin, checks, judges } = await taken();
  expect(judges).toMatchObject({ checks, path: bin });
  expect(judges.folder.files['check.sh']).toMatch(/^[0-9a-f]{64}$/);
  expect(programsOf(judges)).toEqual(
    new Map([
      ['judge', join(bin, 'judge')],
      ['nowhere', null],
      ['sh', null],
    ]),
  );
});

test('it is the same once it was stored and read', async () => {
  const { judges } = await taken();
  const folder = await tempFolder();
  writeFileSync(join(folder, 'judges.json'), judgesJson(judges));
  expect(storedJudges(folder)).toEqual(judges);
});

test.for(['', '[]', '{"checks":[]}', '{"checks":"a","folder":{},"path":"","programs":{}}'])(
  'a damaged file is read as none: %s',
  async (text) => {
    const folder = await tempFolder();
    expect(storedJudges(folder)).toBeNull();
    writeFileSync(join(folder, 'judges.json'), text);
    expect(storedJudges(folder)).toBeNull();
  },
);

test('checks that a resume adds leave what is known of the start as it is', async () => {
  const { cwd, bin, judges } = await taken();
  put(cwd, { 'check.sh': 'exit 0\n', 'more.sh': 'true\n' });
  const checks = ['sh check.sh', 'sh more.sh', 'judge work.txt'];
  const place = { cwd, checks, isOwn: () => false };
  const now = await takeJudges(place, { PATH: `${cwd}:${bin}` });
  const both = withNewChecks(judges, now);
  expect(both.folder.files['check.sh']).toBe(judges.folder.files['check.sh']);
  expect(both.folder.files['more.sh']).toMatch(/^[0-9a-f]{64}$/);
  expect(both.checks).toEqual(checks);
  const moved = { ...now, path: bin, programs: { ...now.programs, judge: '/elsewhere/judge' } };
  expect(withNewChecks(judges, moved).programs.judge).toBe(join(bin, 'judge'));
});
