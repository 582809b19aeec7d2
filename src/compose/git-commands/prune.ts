import { gitAt, gitIn } from '../../effects/git/git.ts';
import { deleteRefsBelow } from '../../effects/git/questions/refs.ts';
import { type Pruned, pruneHistory } from '../../effects/state/prune-history.ts';
import { tryReadStateFile } from '../../effects/state/state-file.ts';
import { inHistory, taskPaths } from '../../effects/state/task-folder.ts';
import { listTasks } from '../../effects/state/task-list.ts';
import { type SealedPlace, sealAt } from '../../effects/trust/seal.ts';
import { firstRepository, foldersOfTask } from './task-repository.ts';

interface PruneRequest extends SealedPlace {
  readonly beforeMs: number;
  readonly dryRun: boolean;
  readonly env: NodeJS.ProcessEnv;
}

const TIMEOUT_MS = 60_000;

/**
 * Removes tasks that ended before `beforeMs` from the history, with their snapshots, and also old corrupt state files,
 * which were renamed. A task whose snapshots cannot be removed stays.
 */
export async function pruneTasks(request: PruneRequest): Promise<readonly Pruned[]> {
  const { stateDir, beforeMs, dryRun, env } = request;
  if (dryRun) return [...pruneHistory(stateDir, { beforeMs, dryRun })];
  const seal = sealAt(request);
  const git = gitIn('/', { env, timeoutMs: TIMEOUT_MS });
  const staying = new Map<string, string>();
  const old = [...pruneHistory(stateDir, { beforeMs, dryRun: true })].flatMap(({ kind, name }) =>
    kind === 'task' ? [name] : [],
  );
  const inUse = old.length === 0 ? new Set<string>() : snapshotsBut(new Set(old), stateDir);
  // The snapshots are removed first: without the task's state, nothing would lead to them.
  for (const name of old) {
    const place = inHistory(taskPaths(stateDir, name), name);
    const file = tryReadStateFile(place.stateFile, seal);
    if (file.kind !== 'task' || !file.isOwn) continue;
    const { snapshots } = file.state.git;
    if (snapshots === null || inUse.has(snapshots)) continue;
    const opened = await firstRepository(foldersOfTask(file.state, place.folder), git);
    if (opened.kind === 'none') continue;
    const { root } = opened.repository;
    if (!(await deleteRefsBelow(gitAt(git, root), snapshots))) {
      staying.set(name, `git in ${root} cannot remove its snapshots, ${snapshots}`);
    }
  }
  return [...pruneHistory(stateDir, { beforeMs, dryRun, staying })];
}

/** Returns the git refs of the snapshots of all tasks but `names`. They stay, even if a copied task names them, too. */
function snapshotsBut(names: ReadonlySet<string>, stateDir: string): ReadonlySet<string> {
  const { open, ended } = listTasks(stateDir, Number.POSITIVE_INFINITY);
  const staying = [...open, ...ended.filter(({ name }) => !names.has(name))];
  return new Set(
    staying.flatMap(({ found }) =>
      found.kind === 'task' ? (found.state.git.snapshots ?? []) : [],
    ),
  );
}
