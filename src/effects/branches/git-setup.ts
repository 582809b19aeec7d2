import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { MB, readTextWithin } from '../files/bounded-read.ts';
import type { Repository } from '../snapshots/repository.ts';
import type { RunGit } from '../workspace/git-command.ts';

/**
 * The programs that a commit may run, by name: each with a hash of what it is. Compared with those
 * at the task's start, they show what the agent has changed.
 */
export type GitSetup = Readonly<Record<string, string>>;

/** Returns the repository's hooks and its own configuration; null if git cannot tell. */
export async function readGitSetup(repository: Repository, git: RunGit): Promise<GitSetup | null> {
  const { root, gitDir, commonDir } = repository;
  const listed = await git(root, ['config', '--list', '--show-scope', '-z']);
  const hooks = await git(root, ['rev-parse', '--git-path', 'hooks']);
  if (listed === null || hooks === null) return null;
  const setup: Record<string, string> = { 'the configuration of git': sha256(listed) };
  for (const file of [
    ...filesIn(path.resolve(root, Buffer.from(hooks, 'latin1').toString().trim())),
    path.join(commonDir, 'info', 'attributes'),
    path.join(gitDir, 'info', 'attributes'),
  ]) {
    const sign = signOf(file);
    if (sign !== null) setup[file] = sign;
  }
  return setup;
}

/** Returns the names that differ, sorted. */
export function changedSetup(before: GitSetup, now: GitSetup): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...names].filter((name) => before[name] !== now[name]).sort();
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => !name.endsWith('.sample'))
      .map((name) => path.join(folder, name));
  } catch {
    return [];
  }
}

function signOf(file: string): string | null {
  if (!existsSync(file)) return null;
  try {
    return `${lstatSync(file).mode} ${sha256(readTextWithin(file, MB))}`;
  } catch {
    return 'unreadable';
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
