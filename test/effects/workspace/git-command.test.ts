import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { runGit } from '../../../src/effects/workspace/git-command.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** As many calls of git at once as a program may have that runs many tasks. */
const MANY = 30;

/** A `git` that does what a shell script says, called many times at once. */
async function callMany(script: string) {
  const folder = await tempFolder();
  await writeFile(join(folder, 'git'), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, 'git'), 0o755);
  const env = { PATH: `${folder}:/usr/bin:/bin` };
  const call = () => runGit({ args: ['status'], cwd: folder, env, timeoutMs: 30_000 });
  return Promise.all(Array.from({ length: MANY }, call));
}

describe('many calls of git at once', () => {
  test('many git calls at once share one exit listener, and leave none behind', async () => {
    const warned = vi.fn();
    process.on('warning', warned);
    onTestFinished(() => void process.off('warning', warned));
    const before = process.listenerCount('exit');
    const over = callMany('echo yes');
    await vi.waitFor(() => expect(process.listenerCount('exit')).toBe(before + 1));
    expect(await over).toEqual(Array(MANY).fill('yes\n'));
    expect(process.listenerCount('exit')).toBe(before);
    expect(warned).not.toHaveBeenCalled();
  });

  test('all end with this process', async () => {
    const before = process.listeners('exit');
    const over = callMany('exec sleep 60');
    const [giveUp] = await vi.waitUntil(() => {
      const added = process.listeners('exit').filter((listener) => !before.includes(listener));
      return added.length > 0 && added;
    });
    giveUp?.(0);
    expect(await over).toEqual(Array(MANY).fill(null));
  });
});
