import { leakyRemotes } from '../../core/snapshots/shared-refs.ts';
import { probeFolder } from '../../effects/files/folder-probe.ts';
import { gitIn } from '../../effects/git/git.ts';
import { gitVersion } from '../../effects/git/git-probe.ts';
import { eachSetting, listSettings } from '../../effects/git/listed-settings.ts';
import { findRepository } from '../../effects/git/repository.ts';
import type { SnapshotFacts } from '../../report/screens/snapshot-findings.ts';

const TIMEOUT_MS = 10_000;

/** Finds the facts (for `ralph doctor`) on which snapshots of a work tree depend; null if git finds no repository. */
export async function examineSnapshots(
  cwd: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<SnapshotFacts | null> {
  const git = gitIn(cwd, { env, signal, timeoutMs: TIMEOUT_MS });
  const repository = await findRepository(cwd, git);
  if (repository === null) return null;
  const { objects } = repository;
  return {
    version: await gitVersion(git),
    objects,
    probe: probeFolder(objects),
    leaks: leakyRemotes(eachSetting(await listSettings(git))),
  };
}
