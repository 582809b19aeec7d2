import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { keepTaskFile } from '../../../src/effects/vault/kept-task-file.ts';
import { put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

// What the runs of a task do about its file, each of which keeps it anew.

async function stage() {
  const vault = await tempFolder();
  put(vault, { 'In_Progress/x.md': 'Write it.\n' });
  const file = join(vault, 'In_Progress/x.md');
  const copy = join(vault, 'copy');
  const keep = () =>
    keepTaskFile({ vault, file, copy, isInterrupted: false, hasArrived: async () => false });
  return { vault, file, copy, keep, text: () => readFileSync(file, 'utf8') };
}

describe('a task file that is put back', () => {
  test('has what a person wrote to it since the last look', async () => {
    const { file, keep, text } = await stage();
    const kept = keep();
    await kept.putBack();
    appendFileSync(file, 'Ask Anna.\n');
    rmSync(file);
    expect(await kept.putBack()).toEqual({ kind: 'removed' });
    kept.close();
    expect(text()).toBe('Write it.\nAsk Anna.\n');
  });
});
