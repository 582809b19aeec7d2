import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { removeFreshCheckout } from '../../src/effects/branches/fresh-checkout.ts';
import { runShellCommand } from '../../src/effects/processes/shell-command.ts';
import type { CheckPlace } from '../../src/effects/proof/check-place.ts';
import { checkClean } from '../../src/effects/proof/clean-checkout.ts';
import { findDeciders, lookAtDeciders } from '../../src/effects/proof/decider-look.ts';
import { sitOldExam } from '../../src/effects/proof/old-exam.ts';
import { PATIENCE_MS } from './patience.ts';
import { bytesBelow, type Files, gitIn, makeRepository, put } from './repository.ts';
import { snapshotsOf } from './snapshots.ts';
import { tempFolder } from './temp-folder.ts';

/** Takes files away with `null`. */
type Changed = Readonly<Record<string, string | null>>;

interface ExamOptions {
  readonly checks?: readonly string[];
  /** The folder that checks run in. */
  readonly below?: string;
  readonly acceptChanged?: readonly string[];
  /** The most that is copied. */
  readonly mostBytes?: number;
}

/** The packages of this project, for tests that run real runners. */
const PACKAGES = join(import.meta.dirname, '..', '..', 'node_modules');

/** A task in a repository with these files: its start is in a snapshot. */
export async function makeExam(
  files: Files,
  { checks = ['npm test'], below = '', acceptChanged = [], ...options }: ExamOptions = {},
) {
  const { folder, git } = await makeRepository({ '.gitignore': 'node_modules\n', ...files });
  symlinkSync(PACKAGES, join(folder, 'node_modules'));
  const { own, take } = await snapshotsOf(folder, { maxBytes: 1_000_000 });
  const start = (await take('0')).tree;
  const atStart = await findDeciders({ git: own, checks, folder: below }, start);
  const examFolder = join(await tempFolder(), 'r.ralph', 't.exam');
  const cleanFolder = examFolder.replace(/exam$/, 'clean');
  // One that failed stays, with its folder for temporary files.
  onTestFinished(() => removeFreshCheckout(cleanFolder));
  const common = { git: own, below, isOwn: () => false, ...options };

  const run = (command: string, { cwd, temporary }: Omit<CheckPlace, 'folder'>) =>
    runShellCommand(command, '', {
      cwd,
      env: { PATH: process.env.PATH, HOME: temporary, TMPDIR: temporary, CI: '1' },
      timeoutMs: PATIENCE_MS,
      stops: {
        signal: new AbortController().signal,
        hurry: new AbortController().signal,
        cause: () => null,
      },
    });
  const runAll = async (place: CheckPlace) => {
    const results = [];
    for (const check of checks) results.push(await run(check, place));
    return results;
  };
  const claim = async (changes: Changed) => {
    for (const [name, content] of Object.entries(changes)) {
      if (content === null) rmSync(join(folder, name), { recursive: true, force: true });
      else put(folder, { [name]: content });
    }
    return (await take('1', '2', '3')).tree;
  };
  const look = (claimed: string) =>
    lookAtDeciders({
      ...{ git: own, checks, folder: below, start, atStart, claimed, acceptChanged },
    });
  const head = () => git('rev-parse', 'HEAD');
  return {
    ...{ folder, git, own, start, atStart, examFolder, cleanFolder, claim, look, head, run },
    /** What the old exam says of the claim, and what was found bent. */
    async judge(changes: Changed) {
      const claimed = await claim(changes);
      const { bent, undone, changedTestFiles } = await look(claimed);
      const request = { ...common, folder: examFolder, head: head(), claimed, undone };
      const results = await sitOldExam({ ...request, check: runAll });
      const passes = results.every(({ exitCode }) => exitCode === 0);
      return {
        bent,
        changedTestFiles,
        passes,
        output: results.map(({ output }) => output).join(''),
      };
    },
    /** Whether the checks pass in the work tree itself. */
    async passesHere() {
      const results = await runAll({ folder, cwd: join(folder, below), temporary: '/tmp' });
      return results.every(({ exitCode }) => exitCode === 0);
    },
    sit: <T>(
      claimed: string,
      undone: Parameters<typeof sitOldExam>[0]['undone'],
      check: (place: CheckPlace) => Promise<T>,
    ) => sitOldExam({ ...common, folder: examFolder, head: head(), claimed, undone, check }),
    clean: (tree: string, more: { setup?: string; copy?: readonly string[] } = {}) =>
      checkClean({
        ...{ ...common, folder: cleanFolder, head: head(), tree, run },
        setup: more.setup ?? null,
        copy: { from: join(folder, below), globs: more.copy ?? [] },
        check: runAll,
        hasPassed: (results) => results.every(({ exitCode }) => exitCode === 0),
      }),
  };
}

/** Everything that a checkout must leave as it is. */
export function untouched(folder: string) {
  const git = gitIn(folder);
  const files = Object.entries(bytesBelow(folder)).filter(
    ([name]) => !/^\.git\/objects\//.test(name),
  );
  return { files: Object.fromEntries(files), trees: git('worktree', 'list', '--porcelain') };
}
