import path from 'node:path';
import { judgeOf } from '../../core/settings/judge-setting.ts';
import type { SourcedSettings } from '../../core/settings/setting-source.ts';
import { SETTINGS, type SettingName, settingNames } from '../../core/settings/settings.ts';
import { isTaskId } from '../../core/task/task-id.ts';
import type { OwnWorkTree } from '../../core/task/task-state.ts';
import { messageOf } from '../../errors.ts';
import { hasFolder, inOwnTree, planTree } from '../branches/own-tree.ts';
import { errorCode } from '../files/write-file.ts';
import { GitError } from '../git/git-error.ts';
import { gitWith, openRepository } from '../git/open-repository.ts';

/** The checked settings about git. */
export interface GitPlan {
  /** The task's own work tree, which may not exist yet; null without `--worktree`. */
  readonly workTree: OwnWorkTree | null;
  readonly problems: readonly string[];
}

export interface GitPlanRequest extends SourcedSettings {
  readonly env: NodeJS.ProcessEnv;
  readonly startDir: string;
  /** Absolute path of the folder in which the task is started. */
  readonly cwd: string;
  readonly taskId: string;
  /** The work tree of a task that is resumed, or null if it has none; absent for a new task. */
  readonly workTree?: OwnWorkTree | null;
}

/** Checks the settings that need git, and plans a new task's own work tree. Starts git only if a setting needs it. */
export async function planGit(request: GitPlanRequest): Promise<GitPlan> {
  const { settings, sources, cwd, env, startDir, taskId } = request;
  const workTree = request.workTree ?? null;
  const isNew = request.workTree === undefined && settings.worktree;
  const asking = gitFlags(request);
  if (asking.length === 0 && !isNew) return { workTree, problems: [] };
  const git = gitWith(env);
  const opened = await openRepository(cwd, git);
  if (opened.kind === 'none') {
    // A task that is to have its own work tree must not work in the user's files instead.
    const names = new Set([...asking, ...(isNew ? [sources.worktree.where] : [])]);
    const problem = `${[...names].join(', ')} ${names.size === 1 ? 'needs' : 'need'} a git work tree, and ${opened.why}.`;
    return { workTree, problems: [problem] };
  }
  if (!isNew || !isTaskId(taskId)) return { workTree, problems: [] };
  const { repository } = opened;
  const folder =
    settings.worktreeDir === null ? null : path.resolve(startDir, settings.worktreeDir);
  const { base } = settings;
  try {
    const tree = await planTree({ repository, git, taskId, folder, base });
    if (tree === null) return { workTree, problems: [noBase(request, repository.root)] };
    const name = path.relative(tree.path, inOwnTree(tree, cwd));
    const isThere = name === '' || (await hasFolder({ repository, git }, tree.base, name));
    return { workTree: tree, problems: isThere ? [] : [noFolder(request, name)] };
  } catch (error) {
    // This error comes, for example, if a file is where the folder for the work trees has to be.
    if (!(error instanceof GitError) && errorCode(error) === '') throw error;
    return { workTree, problems: [`--worktree is not possible here: ${messageOf(error)}.`] };
  }
}

function noBase({ settings, sources }: GitPlanRequest, root: string): string {
  return settings.base === null
    ? `--worktree needs a commit to begin with, and ${root} has none yet; commit something first.`
    : `${sources.base.where} expects a commit of ${root}; found none called '${settings.base}'.`;
}

function noFolder({ settings, sources }: GitPlanRequest, name: string): string {
  const base = settings.base ?? 'HEAD';
  return `${sources.cwd.where} expects a folder that is committed, since --worktree brings nothing else along; ${base} has none called ${name}.`;
}

/** Returns the settings in force that need git, as the user wrote them. Most settings count only if given by flags. */
function gitFlags({ settings, sources }: SourcedSettings): readonly string[] {
  const isOn = (name: SettingName): boolean => {
    const value: unknown = settings[name];
    if (name === 'judge') return judgeOf(settings) !== null;
    return value !== false && value !== null;
  };
  return settingNames()
    .filter((name) => {
      const isOfGit = SETTINGS[name].group === 'Git' && sources[name].kind === 'flag';
      return (isOfGit || name === 'verifyClean' || name === 'judge') && isOn(name);
    })
    .map((name) => sources[name].where);
}
