import { appendFileSync, existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { keepTaskFile } from '../../../src/effects/vault/kept-task-file.ts';
import { put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

// What the runs of a task do about its file: each run opens it again.

async function stage() {
  const vault = await tempFolder();
  put(vault, { 'In_Progress/x.md': 'Write it.\n' });
  const file = join(vault, 'In_Progress/x.md');
  const copy = join(vault, 'copy');
  const keep = () => keepTaskFile({ vault, file, copy, hasArrived: async () => false });
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

  test('comes back in a later run, if what was in the way is gone by then', async () => {
    const { vault, copy, keep, text } = await stage();
    const folder = join(vault, 'In_Progress');
    const first = keep();
    await first.putBack();
    rmSync(folder, { recursive: true });
    symlinkSync(await tempFolder(), folder);
    await expect(first.putBack()).rejects.toThrow('leads out of the vault');
    first.close();
    const second = keep();
    await expect(second.putBack()).rejects.toThrow('leads out of the vault');
    second.close();
    rmSync(folder);
    const third = keep();
    expect(await third.putBack()).toEqual({ kind: 'removed' });
    expect(text()).toBe('Write it.\n');
    third.close();
    expect(existsSync(copy)).toBe(false);
  });

  test('stays away if a person has removed it between two runs', async () => {
    const { file, keep } = await stage();
    const first = keep();
    await first.putBack();
    first.close();
    rmSync(file);
    const second = keep();
    expect(await second.putBack()).toBeNull();
    second.close();
    expect(existsSync(file)).toBe(false);
  });
});
