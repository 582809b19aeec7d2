import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { LOG_BYTES } from '../../../src/fleet/database/write-claim.ts';
import { createLegLogs } from '../../../src/fleet/leg/leg-logs.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** Keeps a log, and returns its size when it is packed, and its text. */
async function keptOf(log: string) {
  const folder = await tempFolder();
  writeFileSync(join(folder, 'iteration-0001.stdout.log'), log);
  const kept: Uint8Array[] = [];
  const logs = createLegLogs(folder, async ({ packed }) => {
    kept.push(packed);
    return true;
  });
  await logs.keep(0);
  await logs.keep(1);
  await logs.keep(1);
  expect(kept).toHaveLength(1);
  const [packed = new Uint8Array()] = kept;
  return { bytes: packed.byteLength, text: gunzipSync(packed).toString() };
}

test('a log of two megabytes is kept as it is', async () => {
  const log = 'the agent says something\n'.repeat(2 * 1024 * 40);
  expect((await keptOf(log)).text).toBe(log);
});

test('of a log that is too large packed, as much of its beginning and its end is kept as fits', async () => {
  const log = `the beginning\n${randomBytes(3_000_000).toString('base64')}\nthe end\n`;
  const { bytes, text } = await keptOf(log);
  expect(bytes).toBeGreaterThan(LOG_BYTES / 4);
  expect(bytes).toBeLessThanOrEqual(LOG_BYTES);
  expect([text.startsWith('the beginning\n'), text.endsWith('\nthe end\n')]).toEqual([true, true]);
});
