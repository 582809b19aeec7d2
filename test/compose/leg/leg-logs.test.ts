import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openBoundedLog } from '../../../src/effects/logs/bounded-log.ts';
import { pinFolder } from '../../../src/effects/trust/pinned-folder.ts';
import { LOG_BYTES } from '../../../src/fleet/database/write-claim.ts';
import { createLegLogs } from '../../../src/fleet/leg/leg-logs.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** Keeps a log, and returns its size when it is packed, and its text. */
async function keptOf(log: string, limit = 1_000_000_000) {
  const folder = await tempFolder();
  const written = openBoundedLog(pinFolder(folder), 'iteration-0001.stdout.log', limit);
  written.write(Buffer.from(log));
  written.close();
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

test('a log of several files is kept with what it says of the rest', async () => {
  const log = `the beginning\n${'the agent says something\n'.repeat(10_000)}the end\n`;
  const { text } = await keptOf(log, 64 * 1024);
  expect(text).toMatch(
    /^the beginning\n[\s\S]*\n\[ralph: \d+ bytes left out\]\n[\s\S]*\nthe end\n$/,
  );
});
