import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findPrograms, switchedPrograms } from '../../../src/effects/proof/deciding-programs.ts';
import { put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

async function makePath() {
  const folder = await tempFolder();
  const program = (name: string) => {
    put(folder, { [name]: '#!/bin/sh\n' });
    chmodSync(join(folder, name), 0o755);
  };
  for (const name of ['late/pytest', 'late/gone', 'late/same']) program(name);
  const options = {
    cwd: folder,
    env: { PATH: ['early', 'late'].map((name) => join(folder, name)).join(':') },
  };
  const find = () => findPrograms(['pytest', 'gone', 'same', 'absent'], options);
  return { folder, program, find };
}

test('a program of the same name put first on PATH, and one that is gone', async () => {
  const { folder, program, find } = await makePath();
  const atStart = find();
  expect(switchedPrograms(atStart, find(), [])).toEqual([]);
  program('early/pytest');
  program('early/absent');
  put(folder, { 'early/same': 'no program\n' });
  chmodSync(join(folder, 'late', 'gone'), 0o644);
  const pytest = {
    ...{ kind: 'program', name: 'pytest' },
    path: join(folder, 'early', 'pytest'),
    pathAtStart: join(folder, 'late', 'pytest'),
  };
  const gone = {
    kind: 'program',
    name: 'gone',
    path: null,
    pathAtStart: join(folder, 'late/gone'),
  };
  expect(switchedPrograms(atStart, find(), [])).toEqual([pytest, gone]);
  expect(switchedPrograms(atStart, find(), ['py*'])).toEqual([gone]);
});

test('another name of the same file is the same program', async () => {
  const { folder, find } = await makePath();
  const atStart = find();
  put(folder, { 'early/x': '' });
  symlinkSync(join(folder, 'late', 'pytest'), join(folder, 'early', 'pytest'));
  expect(switchedPrograms(atStart, find(), [])).toEqual([]);
});
