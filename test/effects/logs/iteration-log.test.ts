import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createTranscript, transcriptNames } from '../../../src/effects/logs/iteration-log.ts';
import { pinFolder } from '../../../src/effects/trust/pinned-folder.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const ROOM = 1_000_000_000;

/** Writes one attempt of an iteration. */
function write(folder: string, iteration: number, out: readonly string[], limit = ROOM) {
  const transcript = createTranscript(pinFolder(folder), iteration, limit);
  transcript.open();
  for (const text of out) transcript.stdout(Buffer.from(text));
  transcript.stderr(Buffer.from('err'));
  transcript.close();
}

function read(folder: string, name = 'iteration-0001.stdout.log'): string {
  return readFileSync(join(folder, name), 'utf8');
}

describe('the log of an iteration', () => {
  test('has its number in its name, in order for all who sort names', () => {
    expect(transcriptNames(1)).toEqual({
      stdout: 'iteration-0001.stdout.log',
      stderr: 'iteration-0001.stderr.log',
    });
    expect(transcriptNames(12_345).stdout).toBe('iteration-12345.stdout.log');
  });

  test('has every byte, over all attempts', async () => {
    const folder = join(await tempFolder(), 'T1');
    write(folder, 1, ['one\r\n', '\0\u001b[1m']);
    write(folder, 1, ['two']);
    write(folder, 2, ['other']);
    expect(read(folder)).toBe('one\r\n\0\u001b[1mtwo');
    expect(read(folder, 'iteration-0001.stderr.log')).toBe('errerr');
    expect(read(folder, 'iteration-0002.stdout.log')).toBe('other');
  });

  test('is for its owner alone', async () => {
    const folder = join(await tempFolder(), 'T1');
    write(folder, 1, ['x']);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) {
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    }
  });

  test('is there while the iteration runs', async () => {
    const folder = await tempFolder();
    const transcript = createTranscript(pinFolder(folder), 1, ROOM);
    transcript.open();
    transcript.stdout(Buffer.from('so far'));
    expect(read(folder)).toBe('so far');
    transcript.close();
  });

  test('is done without where it cannot be written', async () => {
    const blocked = join(await tempFolder(), 'file');
    await writeFile(blocked, '');
    write(join(blocked, 'T1'), 1, ['x']);
  });

  test.skipIf(!existsSync('/dev/full'))('is done without on a full disk', async () => {
    const folder = await tempFolder();
    const names = transcriptNames(1);
    const { symlink } = await import('node:fs/promises');
    await symlink('/dev/full', join(folder, names.stdout));
    write(folder, 1, ['x', 'y']);
    expect(read(folder, names.stderr)).toBe('err');
  });

  test('may be deleted meanwhile', async () => {
    const folder = join(await tempFolder(), 'T1');
    const transcript = createTranscript(pinFolder(folder), 1, ROOM);
    transcript.open();
    transcript.stdout(Buffer.from('x'));
    rmSync(folder, { recursive: true });
    transcript.stdout(Buffer.from('y'));
    transcript.close();
  });
});
