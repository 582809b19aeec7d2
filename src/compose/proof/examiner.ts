import path from 'node:path';
import type { RawCheckResult } from '../core/completion/check-result.ts';
import type { JudgesSeen, Rerun } from '../core/completion/examination.ts';
import { accepting } from '../core/proof/accepted.ts';
import { checkBelow, type NamedPlace, relativeCheck } from '../core/proof/check-places.ts';
import { runOf } from '../core/proof/check-words.ts';
import type { Check } from '../core/settings/checks.ts';
import { type AskGit, runGitOf } from '../effects/branches/checkout.ts';
import { gitAsker } from '../effects/branches/open-repository.ts';
import { treesBeside } from '../effects/branches/own-tree.ts';
import { isInside, realPath } from '../effects/files/real-path.ts';
import { runMeasuredCommand } from '../effects/processes/measured-command.ts';
import type { ShellOptions } from '../effects/processes/shell-command.ts';
import type { CheckPlace } from '../effects/proof/check-place.ts';
import { checkClean } from '../effects/proof/clean-checkout.ts';
import { bentInFolder, markJudges } from '../effects/proof/folder-judges.ts';
import { bentIgnored, markIgnoredJudges } from '../effects/proof/ignored-judges.ts';
import { findJudges, type JudgesOfTree, lookAtJudges } from '../effects/proof/judge-look.ts';
import { findPrograms, switchedPrograms } from '../effects/proof/judge-programs.ts';
import { type JudgesAtStart, programsOf } from '../effects/proof/judges-at-start.ts';
import { sitOldExam } from '../effects/proof/old-exam.ts';
import type { Sandbox } from '../effects/sandbox/sandbox.ts';
import type { TreeKeeper } from '../effects/snapshots/tree-keeper.ts';
import { ownFiles } from '../effects/vault/vault-folders.ts';
import { messageOf } from '../errors.ts';
import type { Examiner } from '../loop/ports.ts';
import { runCheck } from './checks.ts';
import type { ClaimedRun } from './held-run.ts';
import { confinedToCheckout } from './sandbox/confined-to.ts';

/** A task whose claims are examined. */
export interface ExaminedTask {
  readonly run: ClaimedRun;
  /** Null outside git, and with `--no-snapshots`. */
  readonly keeper: TreeKeeper | null;
  readonly atStart: JudgesAtStart;
  readonly sandbox: Sandbox | null;
  /** The environment of the user's commands. */
  readonly env: () => NodeJS.ProcessEnv;
}

/** Creates the port that examines claims. What cannot be found out is an answer as well. */
export function createExaminer(given: ExaminedTask): Examiner {
  const task = { ...given, known: new Map<string, Promise<JudgesOfTree>>() };
  return {
    async examine(part, checks) {
      switch (part) {
        case 'judges':
          return { judges: await lookAtTask(task, checks) };
        case 'oldExam':
          return { oldExam: await rerunOf(() => oldExam(task, checks)) };
        case 'cleanCheckout':
          return { cleanCheckout: await rerunOf(() => cleanCheckout(task, checks)) };
      }
    },
  };
}

interface Examined extends ExaminedTask {
  /** What decided in the tree of the start, by the checks. */
  readonly known: Map<string, Promise<JudgesOfTree>>;
}

async function rerunOf(run: () => Promise<Rerun>): Promise<Rerun> {
  return run().catch((error) => ({
    kind: 'not-made',
    why: `the checkout could not be made: ${messageOf(error)}`,
    setup: null,
    folder: null,
  }));
}

async function lookAtTask(task: Examined, checks: readonly Check[]): Promise<JudgesSeen> {
  const { run, keeper, atStart } = task;
  const { cwd, env, settings } = run.plan;
  const tree = keeper?.isWorking === true ? (keeper.store.newest?.tree ?? null) : null;
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
      tree === null ? await lookInFolder(task, commands) : await lookInTree(task, commands);
    return { ...found, bent: [...found.bent, ...switched], tree, programs };
  } catch (error) {
    const unknown = { kind: 'unknown' as const, why: messageOf(error) };
    return { bent: [unknown, ...switched], stood: true, changedTests: 0, tree, programs };
  }
}

type Found = Pick<JudgesSeen, 'bent' | 'stood' | 'changedTests'>;

async function lookInFolder(
  { run, atStart }: ExaminedTask,
  checks: readonly string[],
): Promise<Found> {
  const { plan } = run;
  const isOwn = ownFiles(plan.vault, plan.stateDir);
  const { folder } = atStart;
  const now = await markJudges({ cwd: plan.cwd, checks, isOwn }, folder);
  const bent = bentInFolder(folder, now, plan.settings.acceptChanged);
  const files = Object.values(folder.files).filter((mark) => mark !== '');
  return { bent, stood: files.length + folder.scripts.length > 0, changedTests: 0 };
}

async function lookInTree(task: Examined, checks: readonly string[]): Promise<Found> {
  const { atStart, look } = await compare(task, checks);
  const { bent } = await lookAtIgnored(task);
  return { bent: [...look.bent, ...bent], stood: atStart.stands, changedTests: look.changedTests };
}

/** Compares the judges that git ignores with the start. */
async function lookAtIgnored(task: ExaminedTask) {
  const { run, keeper } = task;
  const { ignored } = task.atStart;
  if (keeper === null || ignored === null) return { bent: [], asAtStart: new Set<string>() };
  const { root } = keeper.git.repository;
  const now = await markIgnoredJudges(root, askerOf(run));
  const isAccepted = accepting(run.plan.settings.acceptChanged, belowRoot(task));
  const bent = bentIgnored(ignored, now, isAccepted);
  const changed = new Set(bent.map((judge) => (judge.kind === 'file' ? judge.path : '')));
  return { bent, asAtStart: new Set(Object.keys(now).filter((name) => !changed.has(name))) };
}

/** Compares the claimed tree with that of the start. */
async function compare(task: Examined, checks: readonly string[]) {
  const { run, keeper, known } = task;
  const ends = keeper?.ends() ?? null;
  const claimed = keeper?.store.newest?.tree;
  if (keeper === null || ends === null || claimed === undefined) {
    throw new Error('there is no snapshot of the claim');
  }
  const { git } = keeper;
  const folder = belowRoot(task);
  const places = placesOf(task);
  const read = checks.map((check) => relativeCheck(check, places, folder));
  const common = { git, checks: read, folder, programs: programsInTree(task) };
  const key = JSON.stringify(checks);
  const found = known.get(key) ?? findJudges(common, ends.first);
  known.set(key, found);
  const atStart = await found.catch((error) => {
    known.delete(key);
    throw error;
  });
  const { acceptChanged } = run.plan.settings;
  const look = await lookAtJudges({
    ...common,
    start: ends.first,
    atStart,
    claimed,
    acceptChanged,
  });
  return { git, folder, claimed, atStart, look };
}

/** Returns the folder that checks run in, relative to the root of the work tree; empty for the root, or outside git. */
function belowRoot({ run, keeper }: ExaminedTask): string {
  return keeper === null ? '' : path.relative(keeper.git.repository.root, realPath(run.plan.cwd));
}

function askerOf({ plan, driver, stops }: ClaimedRun): AskGit {
  return gitAsker(plan.gitEnv, driver.run_id, stops.hurry);
}

/** How checks may name the work tree, and the folder that they run in. */
function placesOf(task: ExaminedTask): readonly NamedPlace[] {
  const { run, keeper } = task;
  if (keeper === null) return [];
  const { root } = keeper.git.repository;
  const { cwd } = run.plan;
  const below = belowRoot(task);
  return [
    { as: root, below: '' },
    { as: cwd, below },
    ...(below !== '' && cwd.endsWith(`/${below}`)
      ? [{ as: cwd.slice(0, -below.length - 1), below: '' }]
      : []),
  ];
}

/** The programs of checks that were found in the work tree itself, relative to its root. */
function programsInTree({ keeper, atStart }: ExaminedTask): readonly string[] {
  const root = keeper?.git.repository.root ?? '';
  return [...programsOf(atStart).values()].flatMap((file) =>
    file !== null && isInside(root, realPath(file)) ? [path.relative(root, realPath(file))] : [],
  );
}

/** The old exam finds programs of the work tree as they are in it. */
function withPathOf(task: ExaminedTask, { folder }: CheckPlace): ExaminedTask {
  const env = () => {
    const own = task.env();
    return { ...own, PATH: pathIn(task, own.PATH ?? '', folder) };
  };
  return { ...task, env };
}

/** A PATH that leads into the checkout instead of the work tree. */
function pathIn(task: ExaminedTask, search: string, folder: string): string {
  const root = task.keeper?.git.repository.root ?? '';
  return search
    .split(path.delimiter)
    .map((entry) => {
      const place = path.isAbsolute(entry) ? realPath(entry) : '';
      const isThere = place === root || (place !== '' && isInside(root, place));
      return isThere ? path.join(folder, path.relative(root, place)) : entry;
    })
    .join(path.delimiter);
}

async function oldExam(task: Examined, checks: readonly Check[]): Promise<Rerun> {
  const commands = checks.map(({ command }) => command);
  const { git, folder: below, claimed, look } = await compare(task, commands);
  const results = await sitOldExam({
    ...(await checkoutOf(task, 'exam')),
    ...{ git, below, claimed, undone: look.undone },
    asAtStart: (await lookAtIgnored(task)).asAtStart,
    check: (place) => runAll(withPathOf(task, place), checks, place),
  });
  return { kind: 'ran', results, folder: null };
}

async function cleanCheckout(task: ExaminedTask, checks: readonly Check[]): Promise<Rerun> {
  const { run, keeper } = task;
  const { plan } = run;
  const tree = keeper?.store.newest?.tree;
  if (keeper === null || tree === undefined) throw new Error('there is no snapshot of the claim');
  const checked = await checkClean({
    ...(await checkoutOf(task, 'clean')),
    ...{ git: keeper.git, tree },
    below: belowRoot(task),
    copy: { from: plan.cwd, globs: plan.settings.copy },
    setup: plan.settings.setup,
    run: (command, place) => runMeasuredCommand(command, optionsIn(task, place)),
    check: (place) => runAll(task, checks, place),
    hasPassed: (results) => results.every(({ exitCode }) => exitCode === 0),
  });
  if (checked.kind === 'setup-failed') {
    const { result, folder } = checked;
    return { kind: 'not-made', why: 'its set-up command failed', setup: result, folder };
  }
  const folder = checked.kind === 'failed' ? checked.folder : null;
  return { kind: 'ran', results: checked.answer, folder };
}

/** Returns which program each command runs first, as it is found on PATH. */
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

/** What both checkouts need: where they are made, and how git is asked. */
async function checkoutOf({ run, keeper }: ExaminedTask, name: 'exam' | 'clean') {
  if (keeper === null) throw new Error('the task has no snapshots');
  const { plan } = run;
  const ask = askerOf(run);
  const trees = await treesBeside(keeper.git.repository, runGitOf(ask));
  return {
    ask,
    folder: path.join(trees, `${plan.taskId}.${name}`),
    head: keeper.store.head?.commit ?? null,
    isOwn: ownFiles(plan.vault, plan.stateDir),
  };
}

async function runAll(
  task: ExaminedTask,
  checks: readonly Check[],
  place: CheckPlace,
): Promise<readonly RawCheckResult[]> {
  const results: RawCheckResult[] = [];
  const places = placesOf(task);
  for (const check of checks) {
    const { command } = check;
    // A check that names the work tree by its path would look at that, and not at the checkout.
    const there = { ...check, command: checkBelow(command, places, place.folder) };
    results.push({ ...(await runCheck(there, optionsIn(task, place))), command, where: 'clean' });
  }
  return results;
}

function optionsIn({ run, env, sandbox }: ExaminedTask, place: CheckPlace): ShellOptions {
  const { policy } = run.plan;
  return {
    cwd: place.cwd,
    env: { ...env(), TMPDIR: place.temporary },
    timeoutMs: policy.iterationTimeoutMs,
    stops: run.stops,
    ...confinedToCheckout(sandbox, place),
  };
}
