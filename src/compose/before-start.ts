import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { commandsToCheck } from '../core/completion/conditions/conditions.ts';
import { findGitAbove } from '../effects/files/find-git-above.ts';
import { probeFolder } from '../effects/files/folder-probe.ts';
import { isInside } from '../effects/files/real-path.ts';
import { gitIn } from '../effects/git/git.ts';
import { isKnown, unknownAuthor } from '../effects/git/identity.ts';
import { gitWith, type Opened, openPlaces } from '../effects/git/open-repository.ts';
import type { Places } from '../effects/git/repository.ts';
import { planLeftBehind } from '../effects/plan/plan-left-behind.ts';
import type { RunPlan } from '../effects/plan/run-plan.ts';
import { countPlan } from '../effects/workspace/plan-count.ts';
import { SandboxError, UsageError } from '../errors.ts';
import { gitNotUsable, planHasNoBox, planNotReadable, planNotThere } from '../report/notices.ts';
import { agentPrograms } from './agent.ts';

/*
 * Whatever would keep a run from working is found before its first iteration. `ralph run`, `resume`, `watch`, `rescue`
 * and `--dry-run` ask the same questions, so they give the same answers: a refusal ends the command with exit code 2
 * before anything is started or written; a notice is one line, and the run starts.
 */

/** A run that has not started anything. */
export interface ComingRun {
  readonly plan: RunPlan;
  /** Whether the task begins with this run. */
  readonly isNew: boolean;
  /** The notices that were already shown and are not returned again. Each notice that is returned is added here. */
  readonly said?: Set<string>;
  /** Aborts when the user asks ralph to stop. */
  readonly signal?: AbortSignal;
}

/** What keeps a run from starting, and what a person should know about the run. */
export interface Outlook {
  /** Why the run cannot start; each message is a sentence. */
  readonly refusals: readonly (UsageError | SandboxError)[];
  readonly notices: readonly string[];
  /** The repository in which the task is started; null if no question has looked for it. */
  readonly opened: Opened<Places> | null;
}

type Answer = UsageError | SandboxError | { readonly notice: string };

interface Asked extends ComingRun {
  /** Opens the repository in which the task is started; resolves to null if there is no `.git`. */
  readonly repository: () => Promise<Opened<Places> | null>;
}

/** All questions about a run. Each is a function that returns the refusals and notices of one kind. */
const QUESTIONS: readonly ((run: Asked) => Promise<readonly Answer[]>)[] = [
  sandbox,
  author,
  planInNewTree,
  temporaryFolder,
  gitWorks,
  planHasBoxes,
];

/** Asks all questions about a run. Starts none of the user's commands, and writes nothing. */
export async function lookAhead(run: ComingRun): Promise<Outlook> {
  const { cwd, workTree, gitEnv } = run.plan;
  const place = workTree?.origin ?? cwd;
  let opened: Promise<Opened<Places>> | null = null;
  const repository = async () => {
    if (findGitAbove(place) === null) return null;
    opened ??= openPlaces(place, gitWith(gitEnv));
    return opened;
  };
  const refusals: Outlook['refusals'][number][] = [];
  const notices: string[] = [];
  for (const question of QUESTIONS) {
    for (const answer of await question({ ...run, repository })) {
      if (answer instanceof Error) refusals.push(answer);
      else notices.push(answer.notice);
    }
  }
  return { refusals, notices, opened: await opened };
}

/** Returns the new notices about a run, and its repository. Rejects with a `SandboxError` or a `UsageError`. */
export async function requireStart(run: ComingRun): Promise<Omit<Outlook, 'refusals'>> {
  const { refusals, notices, opened } = await lookAhead(run);
  const ofSandbox = refusals.find((each) => each instanceof SandboxError);
  if (ofSandbox !== undefined) throw ofSandbox;
  if (refusals.length > 0) throw new UsageError(refusals.map(({ message }) => message));
  const unsaid = notices.filter((each) => run.said?.has(each) !== true);
  for (const each of unsaid) run.said?.add(each);
  return { notices: unsaid, opened };
}

async function sandbox({ plan, signal }: Asked): Promise<readonly Answer[]> {
  if (plan.settings.sandbox !== true) return [];
  const { refusalsOfRun } = await import('./sandbox/sandbox-refusals.ts');
  return refusalsOfRun(plan, () => agentPrograms(plan), signal);
}

/** Refuses a run with `--commit` if git knows no author, because then every commit would fail. */
async function author({ plan, repository }: Asked): Promise<readonly Answer[]> {
  const { settings, sources, gitEnv } = plan;
  if (!settings.commit || settings.snapshots === false) return [];
  const opened = await repository();
  if (opened?.kind !== 'repository') return [];
  const hasAuthor = await knowsAuthor(opened.repository.root, gitEnv);
  return hasAuthor ? [] : [new UsageError([unknownAuthor(sources.commit.where)])];
}

/** Whether git knows an author for commits in a folder. Asks git in the same way as each commit does. */
export function knowsAuthor(cwd: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  return isKnown(gitIn(cwd, { env, asUser: true, timeoutMs: QUESTION_MS }));
}

const QUESTION_MS = 60_000;

/** Refuses a plan file that a new work tree would lack. With `--setup`, which may create it, this is checked later. */
async function planInNewTree({ plan, isNew }: Asked): Promise<readonly Answer[]> {
  const why = isNew && plan.settings.setup === null ? await planLeftBehind(plan) : null;
  return why === null ? [] : [new UsageError([why])];
}

async function temporaryFolder({ plan, repository }: Asked): Promise<readonly Answer[]> {
  const why = temporaryFolderProblem(plan);
  if (why === null || (await repository())?.kind !== 'repository') return [];
  return [new UsageError([why])];
}

/** Returns why the temporary folder can hold no checkout for checks of finished work; null if it can or need not. */
export function temporaryFolderProblem({ settings, policy }: RunPlan): string | null {
  const mayCheckOut = settings.proof !== 'tell' || settings.verifyClean;
  const isNeeded = mayCheckOut && commandsToCheck(policy).length > 0;
  if (!isNeeded || settings.snapshots === false) return null;
  const folder = tmpdir();
  const probe = probeFolder(folder);
  if (path.isAbsolute(folder) && probe.kind === 'writable') return null;
  const named = ['TMPDIR', 'TMP', 'TEMP'].find((name) => process.env[name]) ?? 'TMPDIR';
  const why = probe.kind === 'not-writable' ? ` (${probe.why})` : '';
  return `${named} expects the absolute path of a folder that can be written, since a claim may be checked in a checkout of its own; found ${folder}${why}.`;
}

/** Warns if git cannot open the repository. A task with its own work tree is refused later, when that is made. */
async function gitWorks({ plan, repository }: Asked): Promise<readonly Answer[]> {
  if (plan.workTree !== null || plan.settings.snapshots === false) return [];
  const opened = await repository();
  return opened?.kind === 'none' ? [{ notice: gitNotUsable(opened.why) }] : [];
}

/** Warns about a plan file that is missing, unreadable or without boxes; the agent may still write it. */
async function planHasBoxes({ plan }: Asked): Promise<readonly Answer[]> {
  const { workTree, policy, sources, settings } = plan;
  const { planFile: name, planSection: planSections } = policy;
  if (name === null) return [];
  const file = path.resolve(plan.cwd, name);
  const isThere = workTree === null || existsSync(workTree.path) || !isInside(workTree.path, file);
  // `--setup` may write or change the plan.
  if (!isThere && settings.setup !== null) return [];
  const planFile = isThere ? file : path.join(workTree.origin, path.relative(workTree.path, file));
  const { where } = sources.planFile;
  if (!existsSync(planFile)) return [{ notice: planNotThere(where, name) }];
  const count = countPlan({ planFile, planSections });
  if (count === null) return [{ notice: planNotReadable(where, name) }];
  const boxes = count.open + count.done;
  return boxes > 0 ? [] : [{ notice: planHasNoBox(where, name, planSections) }];
}
