import type { DecidersSeen, ExamRequest } from '../../core/completion/examination.ts';
import { accepting } from '../../core/proof/accepted.ts';
import { relativeCheck } from '../../core/proof/check-places.ts';
import { runOf } from '../../core/proof/check-words.ts';
import type { Check } from '../../core/settings/checks.ts';
import { asText } from '../../effects/git/tree-path.ts';
import { findDeciders, lookAtDeciders } from '../../effects/proof/decider-look.ts';
import { programsOf } from '../../effects/proof/deciders-at-start.ts';
import { findPrograms, switchedPrograms } from '../../effects/proof/deciding-programs.ts';
import { bentInFolder, markDeciders } from '../../effects/proof/folder-deciders.ts';
import { bentIgnored, markIgnoredDeciders } from '../../effects/proof/ignored-deciders.ts';
import { findRewrites, type RewriteRequest } from '../../effects/proof/rewritten-by-checks.ts';
import { ownFiles } from '../../effects/vault/vault-folders.ts';
import { messageOf } from '../../errors.ts';
import { changedByChecks } from '../../report/notices.ts';
import { belowRoot, type ExaminedTask, placesOf, programsInTree } from './examined-task.ts';

/** Compares what decides the results of the checks with the task's start. The answer also says what is unknown. */
export async function lookAtTask(
  task: ExaminedTask,
  checks: readonly Check[],
  { iteration, rewritten }: Pick<ExamRequest, 'iteration' | 'rewritten'>,
): Promise<DecidersSeen> {
  const { run, keeper, atStart } = task;
  // Files that a check writes belong to the claimed work, and so to its proof, its commit and its checkouts.
  const unchecked = (await keeper?.keepChecked(iteration)) ?? null;
  const { cwd, env, settings } = run.plan;
  const tree = claimedTree(task);
  const commands = checks.map(({ command }) => command);
  const place = { env, cwd };
  const isSamePath = atStart.path === (env.PATH ?? '');
  const before = programsOf(atStart);
  const switched = isSamePath
    ? switchedPrograms(before, findPrograms(before.keys(), place), settings.acceptChanged)
    : [];
  const programs = programsRun(commands, place);
  try {
    const found =
      keeper === null && !task.hasSnapshots
        ? await lookInFolder(task, commands)
        : await lookInTree(task, commands, { before: unchecked ?? tree, earlier: rewritten });
    return { ...found, bent: [...found.bent, ...switched], tree, programs };
  } catch (error) {
    const unknown = { kind: 'unknown' as const, why: messageOf(error) };
    return { bent: [unknown, ...switched], stood: true, ...NO_TESTS, rewritten, tree, programs };
  }
}

type Found = Omit<DecidersSeen, 'tree' | 'programs'>;

/** Returns the tree of the newest snapshot; null if no snapshot of the claim could be made. */
function claimedTree({ keeper }: ExaminedTask): string | null {
  return keeper?.isWorking === true ? (keeper.store.newest?.tree ?? null) : null;
}

const NO_TESTS = { changedTestFiles: [], openTestFiles: [], touchedTests: null, hadTests: false };

async function lookInFolder(
  { run, atStart }: ExaminedTask,
  checks: readonly string[],
): Promise<Found> {
  const { plan } = run;
  const isOwn = ownFiles(plan.vault, plan.stateDir);
  const { folder } = atStart;
  const now = await markDeciders({ cwd: plan.cwd, checks, isOwn }, folder);
  const bent = bentInFolder(folder, now, plan.settings.acceptChanged);
  const files = Object.values(folder.files).filter((mark) => mark !== '');
  const stood = files.length + folder.scripts.length > 0;
  return { bent, stood, ...NO_TESTS, rewritten: [] };
}

async function lookInTree(
  task: ExaminedTask,
  checks: readonly string[],
  seen: { readonly before: string | null; readonly earlier: RewriteRequest['earlier'] },
): Promise<Found> {
  const { git, start, claimed, atStart, look } = await compare(task, checks);
  const before = seen.before ?? claimed;
  const { bent } = await lookAtIgnored(task);
  const { changedTestFiles, openTestFiles, touchedTests } = look;
  const deciders = new Set(atStart.files);
  const { rewritten, others } = await findRewrites({
    ...seen,
    before,
    git,
    start,
    after: claimed,
    deciders,
  });
  tellOnce(task, others.map(asText));
  const isAccepted = accepting(task.run.plan.settings.acceptChanged, belowRoot(task));
  return {
    ...{ bent: [...look.bent, ...bent], stood: atStart.stands, hadTests: atStart.hasTests },
    ...{ changedTestFiles, openTestFiles, touchedTests },
    rewritten: rewritten.filter(({ path }) => !isAccepted(path)),
  };
}

function tellOnce({ run, told }: ExaminedTask, files: readonly string[]): void {
  const news = files.filter((file) => !told.has(file));
  if (news.length > 0) run.warn(changedByChecks(news));
  for (const file of news) told.add(file);
}

/** Compares files that decide the results of checks, but that git ignores, with those at the start. */
export async function lookAtIgnored(task: ExaminedTask) {
  const { run, keeper } = task;
  const { ignored } = task.atStart;
  if (keeper === null || ignored === null) return { bent: [], asAtStart: new Set<string>() };
  const { anywhere, repository } = keeper.git;
  const now = await markIgnoredDeciders(repository.root, anywhere);
  const isAccepted = accepting(run.plan.settings.acceptChanged, belowRoot(task));
  const bent = bentIgnored(ignored, now, isAccepted);
  const changed = new Set(bent.map((each) => (each.kind === 'file' ? each.path : '')));
  return { bent, asAtStart: new Set(Object.keys(now).filter((name) => !changed.has(name))) };
}

/** Compares the files of the claim with those of the start. Rejects if either has no snapshot. */
export async function compare(task: ExaminedTask, checks: readonly string[]) {
  const { run, keeper, known } = task;
  const claimed = claimedTree(task);
  if (keeper === null || claimed === null) throw new Error('there is no snapshot of the claim');
  const { git, start } = keeper;
  if (start === null) throw new Error('there is no snapshot from before the task');
  const folder = belowRoot(task);
  const places = placesOf(task);
  const read = checks.map((check) => relativeCheck(check, places, folder));
  const common = { git, checks: read, folder, programs: programsInTree(task) };
  const key = JSON.stringify(checks);
  const found = known.get(key) ?? findDeciders(common, start);
  known.set(key, found);
  const atStart = await found.catch((error) => {
    known.delete(key);
    throw error;
  });
  const { acceptChanged, acceptFewer } = run.plan.settings;
  const look = await lookAtDeciders({
    ...{ git, folder, start, atStart, claimed },
    ...{ acceptChanged, acceptFewer },
  });
  return { git, folder, start, claimed, atStart, look };
}

/** Returns the path of the program that each command runs first, as found through PATH. */
function programsRun(
  commands: readonly string[],
  place: Parameters<typeof findPrograms>[1],
): Readonly<Record<string, string>> {
  const found = commands.flatMap((command) => {
    const [name] = runOf(command).programs;
    const file = name === undefined ? null : (findPrograms([name], place).get(name) ?? null);
    return file === null ? [] : [[command, file] as const];
  });
  return Object.fromEntries(found);
}
