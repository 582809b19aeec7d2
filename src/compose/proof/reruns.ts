import type { RawCheckResult } from '../../core/completion/check-result.ts';
import type { Rerun } from '../../core/completion/examination.ts';
import { checkBelow } from '../../core/proof/check-places.ts';
import { maskSecrets } from '../../core/secrets/secrets.ts';
import type { Check } from '../../core/settings/checks.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { checkoutFolder } from '../../effects/branches/fresh-checkout.ts';
import { realPath } from '../../effects/files/real-path.ts';
import { runMeasuredCommand } from '../../effects/processes/measured-command.ts';
import type { ShellOptions } from '../../effects/processes/shell-command.ts';
import type { CheckPlace } from '../../effects/proof/check-place.ts';
import { checkClean } from '../../effects/proof/clean-checkout.ts';
import type { DeciderLook } from '../../effects/proof/decider-look.ts';
import { envInExam } from '../../effects/proof/exam/exam-env.ts';
import { sitOldExam } from '../../effects/proof/old-exam.ts';
import { ownFiles } from '../../effects/vault/vault-folders.ts';
import { confinedToCheckout } from '../sandbox/confined-to.ts';
import { runCheck } from './checks.ts';
import { belowRoot, type ExaminedTask, placesOf } from './examined-task.ts';
import { compare, lookAtIgnored } from './look-at-deciders.ts';

/** The old exam: runs the checks on the agent's work, with tests and other deciding files as at the start. */
export function oldExam(task: ExaminedTask, checks: readonly Check[]): Promise<Rerun> {
  return examOf(task, checks, ({ undone }) => undone);
}

/**
 * Runs the checks on the agent's work with the tests of the start. New test files stay if nothing else that decides the
 * results was changed: a fixture that was missing may be the work itself.
 */
export function startTests(task: ExaminedTask, checks: readonly Check[]): Promise<Rerun> {
  return examOf(task, checks, ({ undoneTests, bent }) =>
    bent.length > 0 ? undoneTests : new Map([...undoneTests].filter(([, entry]) => entry !== null)),
  );
}

async function examOf(
  task: ExaminedTask,
  checks: readonly Check[],
  undoneOf: (look: DeciderLook) => DeciderLook['undone'],
): Promise<Rerun> {
  const commands = checks.map(({ command }) => command);
  const { git, folder: below, claimed, look } = await compare(task, commands);
  const results = await sitOldExam({
    ...(await checkoutOf(task, 'exam')),
    ...{ git, below, claimed, undone: undoneOf(look) },
    asAtStart: (await lookAtIgnored(task)).asAtStart,
    check: (place) => runAll(withPlaceOf(task, place), checks, place),
  });
  return { kind: 'ran', results, folder: null };
}

/** Runs the checks on the newest snapshot, the claimed work, in a clean checkout. */
export async function cleanCheckout(task: ExaminedTask, checks: readonly Check[]): Promise<Rerun> {
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
    const last = oneLine(maskSecrets(result.output.trim().split('\n').at(-1) ?? ''), 200);
    const why = `its set-up command failed${last === '' ? '' : `: ${last.replace(/\.$/, '')}`}`;
    return { kind: 'not-made', why, setup: result, folder };
  }
  return { kind: 'ran', results: checked.answer, folder: checked.folder };
}

/** Makes the checks' environment name the exam's checkout wherever it names the work tree. */
function withPlaceOf(task: ExaminedTask, { folder }: CheckPlace): ExaminedTask {
  const root = realPath(task.keeper?.git.repository.root ?? '');
  const env = () => envInExam(task.env(), { root, folder: realPath(folder) }, placesOf(task));
  return { ...task, env };
}

/** Returns what a checkout to run checks in needs: its folder, the commit for HEAD, and which files are ralph's own. */
async function checkoutOf({ run, keeper }: ExaminedTask, name: 'exam' | 'clean') {
  if (keeper === null) throw new Error('the task has no snapshots');
  const { plan } = run;
  return {
    folder: await checkoutFolder(keeper.git, `${plan.taskId}.${name}`),
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
    // The command's paths become paths of the checkout: a check that names the work tree would look there instead.
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
