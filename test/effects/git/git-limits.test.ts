import { existsSync, readFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  callGit,
  type GitAnswer,
  type GitCommand,
} from '../../../src/effects/git/call/git-command.ts';
import { subcommandOf } from '../../../src/effects/git/call/watched-calls.ts';
import { createGitLimits, type GitLimitsRequest } from '../../../src/effects/git/git-limits.ts';
import { PATIENCE_MS } from '../../helpers/patience.ts';
import { until, untilDead } from '../../helpers/processes.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** Far more than the tests have: what is ended is not ended by this. */
const NEVER_MS = 2 * PATIENCE_MS;
const KILLED = { exitCode: null, isUnanswered: true };

interface Scene {
  readonly folder: string;
  readonly limits: ReturnType<typeof createGitLimits>;
  readonly stop: AbortController;
  readonly hurry: AbortController;
  call(args: readonly string[], more?: Partial<GitCommand>): Promise<GitAnswer>;
}

/** A `git` that does what a shell script says, under these limits. */
async function makeScene(script: string, request: GitLimitsRequest = {}): Promise<Scene> {
  const folder = await tempFolder();
  await writeFile(join(folder, 'git'), `#!/bin/sh\ncd '${folder}'\n${script}\n`);
  await chmod(join(folder, 'git'), 0o755);
  const cwd = await tempFolder();
  const env = { PATH: `${folder}:/usr/bin:/bin` };
  const [stop, hurry] = [new AbortController(), new AbortController()];
  const stops = { signal: stop.signal, hurry: hurry.signal };
  const limits = createGitLimits({ stops, quietMs: NEVER_MS, ...request });
  onTestFinished(() => limits.close());
  return {
    ...{ folder, limits, stop, hurry },
    call: (args, more = {}) =>
      limits.keepIn(() => callGit({ args, cwd, env, timeoutMs: NEVER_MS, ...more })),
  };
}

/** In the script: says that it has come so far, for `hasBegun`. */
const BEGUN = 'touch begun';

async function hasBegun({ folder }: Scene): Promise<void> {
  await until(
    () => existsSync(join(folder, 'begun')),
    () => 'git to begin',
  );
}

const HANG = 'exec sleep 600';
const WORK = 'while :; do :; done';
/** For longer than the limits below. */
const WORK_LONG = 'i=0; while [ $i -lt 500000 ]; do i=$((i + 1)); done; echo done';
const SHORT = { quietMs: 600 };

describe.runIf(process.platform === 'linux')('a git that does nothing', () => {
  test('is ended, with what it has started', async () => {
    const scene = await makeScene('sleep 600 & echo $! > pid; wait', SHORT);
    expect(await scene.call(['add'])).toMatchObject(KILLED);
    await untilDead(Number(readFileSync(join(scene.folder, 'pid'), 'utf8')));
  });

  test('one that works takes as long as it takes, by itself or in a child', async () => {
    const scene = await makeScene(
      `case "$*" in *child*) sh -c '${WORK_LONG}' ;; *) ${WORK_LONG} ;; esac`,
      {
        quietMs: 600,
      },
    );
    const done = { exitCode: 0, output: 'done\n' };
    expect(await scene.call(['status'])).toEqual({ ...done, complaint: '' });
    expect(await scene.call(['status', 'child'])).toEqual({ ...done, complaint: '' });
  });

  test('the next ones have less time, until the same call answers', async () => {
    const hang = `case "$*" in *" add") test -e go || ${HANG} ;; *" rm") ${HANG} ;; *" slow") sleep 3 ;; esac`;
    const scene = await makeScene(hang, { quietMs: 1_000, waryQuietMs: NEVER_MS });
    expect(await scene.call(['add'])).toMatchObject(KILLED);
    let ended = 0;
    const second = scene.call(['add']).finally(() => {
      ended += 1;
    });
    // Another call of the same command says nothing about it.
    expect(await scene.call(['add', 'other'])).toMatchObject({ exitCode: 0 });
    // Past the first limit many times over.
    expect(await scene.call(['add', 'slow'])).toMatchObject({ exitCode: 0 });
    expect(ended).toBe(0);
    await writeFile(join(scene.folder, 'go'), '');
    expect(await scene.call(['add'])).toMatchObject({ exitCode: 0 });
    // Now the first limit holds again. Until then it ended nothing.
    expect(await scene.call(['rm'])).toMatchObject(KILLED);
    scene.hurry.abort();
    expect(await second).toMatchObject(KILLED);
  });

  test.for(['network', 'hooks'] as const)(
    'is left alone while it waits for %s',
    async (waitsFor) => {
      const scene = await makeScene(
        'case "$*" in *push) until test -e go; do sleep 0.05; done ;; *) sleep 600 ;; esac',
        SHORT,
      );
      const waiting = scene.call(['push'], { waitsFor });
      expect(await scene.call(['status'])).toMatchObject(KILLED);
      await writeFile(join(scene.folder, 'go'), '');
      expect(await waiting).toMatchObject({ exitCode: 0 });
    },
  );

  test('is ended at the end of the task’s time, which can be put off', async () => {
    const scene = await makeScene(HANG, { lastQuietMs: 200 });
    scene.limits.setDeadline(new Date(Date.now() - 1).toISOString());
    expect(await scene.call(['status'])).toMatchObject(KILLED);
    scene.limits.setDeadline(new Date(Date.now() + NEVER_MS).toISOString());
    const later = scene.call(['status']);
    scene.limits.setDeadline(new Date(Date.now() + 300).toISOString());
    expect(await later).toMatchObject(KILLED);
  });
});

describe('a stop', () => {
  test.runIf(process.platform === 'linux')('ends a git at once that hangs', async () => {
    const scene = await makeScene(`${BEGUN}; ${HANG}`, { closingMs: NEVER_MS, lastQuietMs: 200 });
    const answer = scene.call(['status']);
    await hasBegun(scene);
    scene.stop.abort();
    expect(await answer).toMatchObject(KILLED);
  });

  test('lets one that works finish', async () => {
    const scene = await makeScene(`${BEGUN}; ${WORK_LONG}`, {
      closingMs: NEVER_MS,
      lastQuietMs: 600,
    });
    const answer = scene.call(['status']);
    await hasBegun(scene);
    scene.stop.abort();
    expect(await answer).toMatchObject({ exitCode: 0, output: 'done\n' });
  });

  test.for([
    ['works', WORK, {}],
    ['runs hooks', HANG, { waitsFor: 'hooks' }],
  ] as const)('ends one that %s for too long, and later ones soon', async ([, script, more]) => {
    const scene = await makeScene(`${BEGUN}; ${script}`, { closingMs: 300, lastQuietMs: 200 });
    const answer = scene.call(['commit'], more);
    await hasBegun(scene);
    scene.stop.abort();
    expect(await answer).toMatchObject(KILLED);
    expect(await scene.call(['commit'], more)).toMatchObject(KILLED);
  });

  test('a second one ends all at once', async () => {
    const scene = await makeScene(`${BEGUN}; ${WORK}`, { closingMs: NEVER_MS });
    const answer = scene.call(['status']);
    await hasBegun(scene);
    scene.stop.abort();
    scene.hurry.abort();
    expect(await answer).toMatchObject(KILLED);
  });

  test('of another run ends none of this one', async () => {
    const [one, other] = await Promise.all([
      makeScene(`${BEGUN}; until test -e go; do sleep 0.05; done`),
      makeScene(`${BEGUN}; ${WORK}`),
    ]);
    const [here, there] = [one.call(['status']), other.call(['status'])];
    await Promise.all([hasBegun(one), hasBegun(other)]);
    other.hurry.abort();
    expect(await there).toMatchObject(KILLED);
    await writeFile(join(one.folder, 'go'), '');
    expect(await here).toMatchObject({ exitCode: 0 });
  });
});

test('the command of git is found behind its settings', () => {
  expect(subcommandOf(['-c', 'core.fsync=all', '-c', 'a=b', 'ls-files', '-z'])).toBe('ls-files');
  expect(subcommandOf([])).toBe('');
});
