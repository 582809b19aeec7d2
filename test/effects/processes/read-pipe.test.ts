import { spawn } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { readPipe } from '../../../src/effects/processes/read-pipe.ts';

/** Runs a line of shell and reads what it writes. */
async function readOf(line: string) {
  const child = spawn('/bin/sh', ['-c', line], { stdio: 'pipe' });
  const memories = new Set<ArrayBufferLike>();
  let end: { memory: ArrayBufferLike; at: number } | null = null;
  let breaks = 0;
  const texts: string[] = [];
  let bytes = 0;
  const pipe = readPipe(child.stdout, (chunk) => {
    memories.add(chunk.buffer);
    if (end?.memory !== chunk.buffer || end.at !== chunk.byteOffset) breaks += 1;
    end = { memory: chunk.buffer, at: chunk.byteOffset + chunk.length };
    texts.push(chunk.toString('latin1', 0, 20));
    bytes += chunk.length;
  });
  await pipe.closed;
  return { memories, breaks, texts, bytes };
}

describe('the pipe of a child', () => {
  test('is read to its end, one read behind the other in the same memory', async () => {
    const { memories, breaks, bytes } = await readOf('head -c 3000000 /dev/zero');
    expect(bytes).toBe(3_000_000);
    // On a node that does not allow it this fails; there ralph still works, and takes more memory.
    expect(memories.size).toBe(3);
    expect(breaks).toBeLessThan(10);
  });

  test('is read as it is written', async () => {
    const { texts } = await readOf('printf one; sleep 0.05; printf two');
    expect(texts.join('')).toBe('onetwo');
  });

  test('may have nothing in it', async () => {
    expect(await readOf(':')).toMatchObject({ bytes: 0 });
  });

  test('holds up a child that writes faster than is read', async () => {
    const child = spawn('/bin/sh', ['-c', 'head -c 8000000 /dev/zero; echo over >&2'], {
      stdio: 'pipe',
    });
    let isOver = false;
    let wasOverAt = 0;
    let bytes = 0;
    child.stderr.on('data', () => {
      isOver = true;
    });
    const pipe = readPipe(child.stdout, (chunk) => {
      bytes += chunk.length;
      if (!isOver) wasOverAt = bytes;
    });
    await pipe.closed;
    expect(bytes).toBe(8_000_000);
    // It could not end before nearly all was read: what is between the two is small.
    expect(wasOverAt).toBeGreaterThan(4_000_000);
  });

  test('can be let go of', async () => {
    const child = spawn('/bin/sh', ['-c', 'while :; do echo on; done'], { stdio: 'pipe' });
    let chunks = 0;
    const pipe = readPipe(child.stdout, () => {
      chunks += 1;
      if (chunks === 3) pipe.destroy();
    });
    await pipe.closed;
    expect(chunks).toBeLessThan(40);
    child.kill('SIGKILL');
  });
});
