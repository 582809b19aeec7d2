import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty folder that lives as long as the running test. */
export async function tempFolder(within: string = tmpdir()): Promise<string> {
  // macOS keeps its temporary folder behind a link, and a child would report the real path.
  const folder = await mkdtemp(join(await realpath(within), 'ralph-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
