import { probeFolder } from '../../effects/files/folder-probe.ts';
import { type RunGit, runGit } from '../../effects/git/call/git-command.ts';
import { findRepository } from '../../effects/git/repository.ts';
import { findLeakyRemotes } from '../../effects/snapshots/keeper/remotes.ts';
import type { SnapshotFacts } from '../../report/screens/snapshot-findings.ts';

const TIMEOUT_MS = 10_000;

/** Finds out what snapshots of a work tree need; null if there is no repository that git opens. */
export async function examineSnapshots(
  cwd: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<SnapshotFacts | null> {
  const git: RunGit = (where, args, extras) =>
    runGit({ ...extras, cwd: where, args, env, signal, timeoutMs: TIMEOUT_MS });
  const repository = await findRepository(cwd, git);
  if (repository === null) return null;
  const { root, objects } = repository;
  const version = /\d+\.\d+(?:\.\d+)*/.exec((await git(root, ['--version'])) ?? '')?.[0] ?? null;
  return {
    version,
    objects,
    probe: probeFolder(objects),
    leaks: await findLeakyRemotes(root, git),
  };
}
