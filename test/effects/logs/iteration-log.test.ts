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

describe('a log over its limit', () => {
  const LIMIT = 1_000;
  const numbers = Array.from({ length: 1_000 }, (_, n) => `${n}\n`);

  test.for([1, 2, 3])('keeps its head and its tail, also over %i attempts', async (attempts) => {
    const folder = await tempFolder();
    for (let n = 1; n <= attempts; n += 1) write(folder, 1, numbers, LIMIT);
    const log = read(folder);
    expect(log.startsWith('0\n1\n2\n3\n')).toBe(true);
    expect(log.endsWith('\n997\n998\n999\n')).toBe(true);
    // The limit, and the line that says what was left out.
    expect(log.length).toBeLessThanOrEqual(LIMIT + 100 * attempts);
    expect(log.length).toBeGreaterThan(LIMIT * 0.75);
    expect(readdirSync(folder).sort()).toEqual(Object.values(transcriptNames(1)).sort());
  });

  test('says how much it left out', async () => {
    const folder = await tempFolder();
    write(folder, 1, numbers, LIMIT);
    const log = read(folder);
    const [line = '', leftOut] = /\n\[ralph: (\d+) bytes left out\]\n/.exec(log) ?? [];
    expect(log.length - line.length + Number(leftOut)).toBe(numbers.join('').length);
  });

  test('has the tail that a killed driver has left, once it goes on', async () => {
    const folder = await tempFolder();
    const transcript = createTranscript(pinFolder(folder), 1, LIMIT);
    transcript.open();
    transcript.stdout(Buffer.from(numbers.slice(0, 200).join('')));
    expect(read(folder).length).toBe(LIMIT / 2);
    write(folder, 1, numbers.slice(200, 210), LIMIT);
    expect(read(folder)).toBe(numbers.slice(0, 210).join(''));
  });

  test('takes one piece that is larger than all of it', async () => {
    const folder = await tempFolder();
    write(folder, 1, [numbers.join('')], LIMIT);
    const log = read(folder);
    expect(log.startsWith('0\n1\n')).toBe(true);
    expect(log.endsWith('\n998\n999\n')).toBe(true);
  });

  test('at its limit to the byte is whole', async () => {
    const folder = await tempFolder();
    write(folder, 1, ['x'.repeat(LIMIT / 2), 'y'.repeat(LIMIT / 2)], LIMIT);
    expect(read(folder)).toBe('x'.repeat(LIMIT / 2) + 'y'.repeat(LIMIT / 2));
  });
});
