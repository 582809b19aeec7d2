import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type NoteFile, removeNotesOf, writeNote } from '../../../src/effects/vault/note-file.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const NOTE = '---\ntask_id: "T1"\n---\n\n# A note\n';

async function stage(files: readonly string[] = []) {
  const folder = join(await tempFolder(), 'Needs_Action');
  if (files.length > 0) await mkdir(folder);
  // As ralph wrote them, so that it is their names that keep them.
  const elsewhere = { folder: await tempFolder(), reason: 'X', taskId: 'X', text: NOTE };
  const own = readFileSync(await writeNote({ ...elsewhere, at: '2026-01-02T03:04:05.678Z' }));
  for (const name of files) await writeFile(join(folder, name), own);
  const note = (more: Partial<NoteFile> = {}) =>
    writeNote({
      folder,
      reason: 'FAILED',
      taskId: 'T1',
      at: '2026-01-02T03:04:05.678Z',
      text: '# A note\n',
      ...more,
    });
  return { folder, note, names: () => readdirSync(folder).sort() };
}

describe('a note', () => {
  test('a note is named after its reason, its task and its time', async () => {
    const { folder, note } = await stage();
    const file = await note();
    expect(file).toBe(join(folder, 'RALPH_FAILED_T1_20260102T030405Z.md'));
    expect(readFileSync(file, 'utf8')).toBe('# A note\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('replaces the older ones of its task and reason', async () => {
    const { note, names } = await stage();
    await note({ text: NOTE });
    await note({ text: NOTE, at: '2026-01-02T03:04:06.000Z' });
    expect(names()).toEqual(['RALPH_FAILED_T1_20260102T030406Z.md']);
  });

  test('leaves an older one that a person has changed, and lies beside it', async () => {
    const { note, names } = await stage();
    const file = await note({ text: NOTE });
    appendFileSync(file, 'Ask Anna.\n');
    await note({ text: NOTE, at: '2026-01-02T03:04:06.000Z' });
    expect(names()).toHaveLength(2);
    expect(readFileSync(file, 'utf8')).toContain('Ask Anna.');
  });

  test('replaces one of the same second', async () => {
    const { note, names } = await stage();
    await note({ text: 'older' });
    expect(readFileSync(await note({ text: 'newer' }), 'utf8')).toBe('newer');
    expect(names()).toHaveLength(1);
  });

  test('removes what a killed driver has left of one half-written', async () => {
    const { note, names } = await stage([
      'RALPH_FAILED_T1_20260102T030404Z.md.3752-d6d733eb.tmp',
      'RALPH_FAILED_T1_2_20260102T030404Z.md.3752-d6d733eb.tmp', // another task's, perhaps alive
    ]);
    await note();
    expect(names()).toEqual([
      'RALPH_FAILED_T1_20260102T030405Z.md',
      'RALPH_FAILED_T1_2_20260102T030404Z.md.3752-d6d733eb.tmp',
    ]);
  });

  test('a note leaves every other file alone', async () => {
    const others = [
      'RALPH_EXHAUSTED_T1_20250101T000000Z.md', // another reason
      'RALPH_FAILED_T10_20250101T000000Z.md', // other tasks whose names begin alike
      'RALPH_FAILED_T1_2_20250101T000000Z.md',
      'RALPH_FAILED_T1_20250101T000000Z_20250101T000000Z.md',
      'RALPH_FAILED_T1-b_20250101T000000Z.md',
      'RALPH_FAILED_t1_20250101T000000Z.md',
      'RALPH_FAILED_T1_20250101T000000Z.md.bak', // what people made of one
      'RALPH_FAILED_T1_20250101T000000Z.txt',
      'RALPH_FAILED_T1_answered.md',
      'x_RALPH_FAILED_T1_20250101T000000Z.md',
      'T1.md',
    ];
    const { note, names } = await stage(others);
    await note();
    expect(names()).toEqual([...others, 'RALPH_FAILED_T1_20260102T030405Z.md'].sort());
  });

  test('a note takes a task id literally, not as a pattern', async () => {
    const { note, names } = await stage(['RALPH_FAILED_axb_20250101T000000Z.md']);
    await note({ taskId: 'a.b' });
    expect(names()).toHaveLength(2);
  });

  test('a note is written even if the older one cannot be removed', async () => {
    const { folder, note, names } = await stage();
    await mkdir(join(folder, 'RALPH_FAILED_T1_20250101T000000Z.md', 'sub'), { recursive: true });
    expect(await note()).toBe(join(folder, 'RALPH_FAILED_T1_20260102T030405Z.md'));
    expect(names()).toHaveLength(2);
  });

  test('the older note stays if the new one cannot be written', async () => {
    const older = 'RALPH_FAILED_T1_20250101T000000Z.md';
    const { folder, note, names } = await stage([older]);
    await mkdir(join(folder, 'RALPH_FAILED_T1_20260102T030405Z.md', 'sub'), { recursive: true });
    await expect(note()).rejects.toThrow();
    expect(names()).toContain(older);
    expect(names().filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('rejects with the error of the system where its folder cannot be made', async () => {
    const { note } = await stage();
    const blocked = join(await tempFolder(), 'file');
    await writeFile(blocked, '');
    await expect(note({ folder: join(blocked, 'Needs_Action') })).rejects.toMatchObject({
      code: 'ENOTDIR',
    });
  });
});

describe('when a task is completed', () => {
  const NAME = 'RALPH_FAILED_T1_20260102T030405Z.md';

  /** A vault with a note of T1, whose front matter has these fields. */
  async function vaultWith(fields: Readonly<Record<string, string>>, more: Partial<NoteFile> = {}) {
    const vault = await tempFolder();
    const stateDir = join(vault, '.ralph_state');
    await mkdir(stateDir);
    const known = { task_id: 'T1', state_file: join(stateDir, 'T1.json'), ...fields };
    const front = Object.entries(known).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
    const text = `---\n${front.join('\n')}\n---\n\n# A note\n\n---\n`;
    const at = '2026-01-02T03:04:05.678Z';
    const folder = join(vault, 'Needs_Action');
    const file = await writeNote({ folder, reason: 'FAILED', taskId: 'T1', at, text, ...more });
    const left = () => {
      removeNotesOf({ vault, taskId: 'T1', stateFile: join(stateDir, 'T1.json') });
      return readdirSync(folder);
    };
    return { file, left };
  }

  test.for<[string, Readonly<Record<string, string>>, Partial<NoteFile>]>([
    ['of a run', {}, {}],
    ['of a pass', { state_file: '', state_dir: '/gone' }, { reason: 'OVERDUE' }],
    ['from before the vault was moved', { state_file: '/gone/.ralph_state/T1.json' }, {}],
  ])('its note %s goes', async ([, fields, more]) => {
    const { left } = await vaultWith(fields, more);
    expect(left()).toEqual([]);
  });

  test.for<[string, Readonly<Record<string, string>>, Partial<NoteFile>]>([
    ['of another task', { task_id: 'T1_T1' }, {}],
    ['of another state folder', { state_file: '/tmp/T1.json' }, {}],
    ['of a task whose id begins alike', {}, { taskId: 'T1_x' }],
    ['that says why no file can be processed', {}, { reason: 'BLOCKED' }],
  ])('a note %s stays', async ([, fields, more]) => {
    const { left } = await vaultWith(fields, more);
    expect(left()).toHaveLength(1);
  });

  test('one that a person has changed stays, and so does one that ralph has not written', async () => {
    const { file, left } = await vaultWith({});
    await writeFile(file, `${readFileSync(file, 'utf8')}Ask Anna.\n`);
    await writeFile(join(file, '..', NAME.replace('04', '05')), 'mine');
    expect(left()).toHaveLength(2);
  });
});
