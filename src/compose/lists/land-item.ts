import { existsSync } from 'node:fs';
import { HINT_MAX_BYTES } from '../../core/prompt/hints.ts';
import { maskSecrets } from '../../core/secrets/secrets.ts';
import type { LandingRefusal } from '../../core/snapshots/landing.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { clip } from '../../core/text/untrusted-text.ts';
import { isBranch } from '../../effects/branches/checkout.ts';
import { earlierLanding } from '../../effects/branches/land.ts';
import { gitWith, openRepository } from '../../effects/git/open-repository.ts';
import { refOf } from '../../effects/git/repository.ts';
import { requireStoredRun } from '../../effects/plan/stored-settings.ts';
import { foreignFiles } from '../../effects/state/foreign-files.ts';
import { leaveRequest } from '../../effects/state/requests.ts';
import { inHistory, type TaskPaths, taskPaths } from '../../effects/state/task-folder.ts';
import { systemClock } from '../../effects/time/clock.ts';
import { type SealedPlace, sealAt } from '../../effects/trust/seal.ts';
import { messageOf } from '../../errors.ts';
import { landingHint, landingText } from '../../report/screens/land.ts';
import { landTask } from '../git-commands/land.ts';
import { reopenTask } from '../git-commands/reopen.ts';
import type { TaskToLand } from '../git-commands/task-to-land.ts';

interface ItemToLand {
  readonly state: TaskState;
  readonly paths: TaskPaths;
  readonly place: SealedPlace & Pick<TaskToLand, 'vault' | 'keyFile'>;
  /** Absolute path of the list; null if the list is not a file. */
  readonly list: string | null;
  readonly env: NodeJS.ProcessEnv;
  /** Aborts when the user stops ralph: then nothing more lands. */
  readonly signal: AbortSignal;
  readonly warn: (sentence: string) => void;
}

/** `onto` and `commit` are null if the item worked in the folder of the list, or had nothing to land. */
interface Landed {
  readonly kind: 'landed';
  readonly onto: string | null;
  readonly commit: string | null;
}

const NOTHING_TO_LAND: Landed = { kind: 'landed', onto: null, commit: null };

/** How the landing of an item ended. */
export type ItemLanding =
  | Landed
  /** `sentence` says why to a person, and `hint` to the agent. */
  | {
      readonly kind: 'refused';
      readonly why: LandingRefusal;
      readonly sentence: string;
      readonly hint: string;
    };

/** How often a landing is tried if its branch moves while the checks run. */
const MOST_TRIES = 5;

/** Brings ("lands") an item's work to the branch at which it began. A task without its own tree has nothing to land. */
export async function landItem(item: ItemToLand): Promise<ItemLanding> {
  const { state, paths, place, list, env, signal, warn } = item;
  const { task_id: taskId } = state;
  const tree = state.git.work_tree;
  const before = await landedBefore(item);
  if (before !== null) return before;
  const onto = tree?.onto ?? '';
  const folder = folderOf(paths, taskId);
  const stored = requireStoredRun(folder, state);
  const seal = sealAt(place);
  const refused = (why: LandingRefusal): ItemLanding => {
    const facts = { taskId, onto, file: null, checks: 1, elsewhere: new Map() };
    const sentence = landingText({ kind: 'refused', why }, facts);
    return { kind: 'refused', why, sentence, hint: landingHint(why, facts) };
  };
  if (signal.aborted) return refused({ kind: 'stopped' });
  const [changed] = foreignFiles(folder, state, seal);
  if (changed !== undefined) {
    return refused({ kind: 'failed', why: `${changed} was changed by somebody else` });
  }
  const task: TaskToLand = {
    ...{ state, stored, seal, env, warn, onto: null, form: { kind: 'squash' } },
    ...{ paths: taskPaths(place.stateDir, taskId), folder },
    ...{ vault: place.vault, keyFile: place.keyFile, apart: list, removesTree: true },
    onWait: (pid) =>
      warn(`waiting for another landing in this repository${pid === null ? '' : ` (pid ${pid})`}`),
  };
  for (let tries = 1; ; tries += 1) {
    const { end } = await landTask(task).catch((error: unknown) => {
      if (!('exitCode' in Object(error))) throw error;
      return { end: { kind: 'refused', why: { kind: 'failed', why: messageOf(error) } } } as const;
    });
    // The task counts as completed, but its work may be somewhere else, for example on another branch.
    if (end.kind === 'nothing-new' && end.isEmpty && !stored.settings.acceptEmpty) {
      return refused({ kind: 'empty', branch: tree?.branch ?? '' });
    }
    if (end.kind !== 'refused') {
      return { kind: 'landed', onto, commit: 'commit' in end ? end.commit : null };
    }
    if (end.why.kind !== 'moved' || tries === MOST_TRIES) return refused(end.why);
  }
}

/** Returns the folder of a completed task, which may already be in the history although its state file is not. */
function folderOf(paths: TaskPaths, taskId: string): string {
  return existsSync(paths.folder) ? paths.folder : inHistory(paths, taskId).folder;
}

/** Returns the landing of a task whose branch is gone; null if the branch exists, or the work may be elsewhere. */
async function landedBefore({ state, paths, env }: ItemToLand): Promise<Landed | null> {
  const { task_id: taskId } = state;
  const tree = state.git.work_tree;
  if (tree === null) return NOTHING_TO_LAND;
  const git = gitWith(env);
  const opened = await openRepository(tree.origin, git);
  if (opened.kind === 'none' || tree.onto === null) return null;
  const place = { repository: opened.repository, git };
  if (await isBranch(place, tree.branch)) return null;
  const { base, onto } = tree;
  const commit = await earlierLanding({ ...place, base, taskId }, refOf(onto));
  if (commit !== null) return { kind: 'landed', onto, commit };
  // Work in snapshots can still be looked for. Without snapshots, a removed work tree means that nothing was left.
  if (state.git.snapshots !== null || existsSync(tree.path)) return null;
  const { settings } = requireStoredRun(folderOf(paths, taskId), state);
  return settings.acceptEmpty ? NOTHING_TO_LAND : null;
}

/** Opens a completed task again, and tells its agent by `hint` why the work could not land. */
export async function returnItem(
  state: TaskState,
  hint: string,
  place: ItemToLand['place'],
): Promise<void> {
  const paths = taskPaths(place.stateDir, state.task_id);
  const seal = sealAt(place, true);
  const why = await reopenTask(paths, state, { seal, vault: place.vault });
  if (why !== null) throw new Error(`${state.task_id} cannot be opened again: ${why}`);
  const text = clip(maskSecrets(hint), HINT_MAX_BYTES / 4);
  await leaveRequest(paths.folder, { kind: 'tell', text }, systemClock.now(), seal);
}
