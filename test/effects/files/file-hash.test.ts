import { randomUUID } from 'node:crypto';
import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { signOfContent } from '../../../src/effects/files/file-hash.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

test('a link to a folder is the same, whatever is made there, until it leads to another one', async () => {
  const folder = await tempFolder();
  const link = join(folder, 'link');
  for (const name of ['one', 'other']) mkdirSync(join(folder, name));
  symlinkSync('one', link);
  const before = signOfContent(link);
  const { ctimeMs } = statSync(link);
  while (statSync(link).ctimeMs === ctimeMs) writeFileSync(join(link, randomUUID()), '');
  expect(signOfContent(link)).toBe(before);
  expect(signOfContent(join(folder, 'other'))).not.toBe(before);
});
