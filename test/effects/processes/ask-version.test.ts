import { chmod, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { askVersion } from '../../../src/effects/processes/ask-version.ts';
import { holdTime, passTimeThrough } from '../../helpers/agent-life.ts';
import { untilPid } from '../../helpers/background.ts';
import { makeFakeClaude } from '../../helpers/fake-claude.ts';
import { PATIENCE_MS } from '../../helpers/patience.ts';
import { untilDead } from '../../helpers/processes.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;

async function program(script: string) {
  const folder = await tempFolder();
  const file = join(folder, 'agent');
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  const ask = (timeoutMs = PATIENCE_MS, signal = new AbortController().signal) =>
    askVersion({ file, cwd: folder, env: { PATH, CLAUDECODE: '1' }, timeoutMs, signal });
  return { folder, file, ask };
}

describe('asking a program for its version', () => {
  test('gives the first line of what it says, and makes no call', async () => {
    const claude = await makeFakeClaude(await tempFolder(), []);
    const answer = await askVersion({
      file: claude.path,
      cwd: claude.dir,
      env: { PATH },
      timeoutMs: PATIENCE_MS,
      signal: new AbortController().signal,
    });
    expect(answer).toEqual({ version: '2.1.197 (Claude Code)' });
    expect(claude.calls()).toEqual([]);
  });

  test('does not let it believe that it runs inside another one', async () => {
    const { ask } = await program('echo "1.0 [$CLAUDECODE] $1"');
    expect(await ask()).toEqual({ version: '1.0 [] --version' });
  });

  test.for([
    ['echo no >&2; exit 3', 'it exited with code 3: no'],
    ['echo hello', 'it printed no version but: hello'],
    ['kill -9 $$', 'it exited with code null: '],
  ] as const)('tells why there is none: %s', async ([script, failed]) => {
    const { ask } = await program(script);
    expect(await ask()).toEqual({ failed });
  });

  test('tells of a file that cannot be started', async () => {
    const { file, ask } = await program('');
    await writeFile(file, '#!/no/such/interpreter\n');
    expect(await ask()).toEqual({
      failed: expect.stringContaining('what its first line names is not'),
    });
  });

  test('ends what hangs, with what it started', async () => {
    const { folder, ask } = await program('sleep 600 & echo $! > child; wait');
    holdTime();
    const asking = ask(500);
    const child = await untilPid(join(folder, 'child'));
    expect(await passTimeThrough(asking)).toEqual({
      failed: 'it did not answer within 0.5 s and was stopped',
    });
    await untilDead(child);
  });

  test('does not wait for what it left behind', async () => {
    const { folder, ask } = await program('sleep 600 & echo $! > child; echo 1.2.3');
    expect(await ask(60_000)).toEqual({ version: '1.2.3' });
    await untilDead(Number(await readFile(join(folder, 'child'), 'utf8')));
  });

  test('ends at once where it is to stop', async () => {
    const { ask } = await program('sleep 600');
    expect(await ask(60_000, AbortSignal.abort())).toEqual({ failed: 'it was stopped' });
  });
});
