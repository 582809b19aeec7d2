import { AGENTS } from '../../agent/agents/agents.ts';
import { type Finding, fewerBoxes, fewerTests } from '../../proof/findings.ts';
import { type CheckResult, judgeCheck, redChecks, resultOf } from '../check-result.ts';
import type { Rerun } from '../examination.ts';
import { asksChangedTests, changedTests, isNamedByFile } from './changed-tests.ts';
import type { ClaimFinding, FindingsView } from './findings-view.ts';
import { judgedNothing } from './judged-nothing.ts';
import { isAnythingShown } from './shown-by-checks.ts';

/**
 * Finds what speaks against a claim of completion whose checks passed. The old exam is a run of the checks with the
 * files that decide them (tests, configuration) as they were at the start.
 */
export function findAgainst(view: FindingsView): readonly ClaimFinding[] {
  const isHold = view.policy.proof !== 'tell';
  const isPassed = oldExamOf(view)?.kind === 'passed';
  // If the tests of the start pass, a changed configuration may be what the work needs, so it does not block the claim.
  const mayHold = isHold && !isPassed && !startTestsPass(view);
  const open = (found: Finding): ClaimFinding => ({ found, held: isHold, isOpen: true });
  const fewer = (found: Finding) => ({ found, held: mayHold, isOpen: !isPassed });
  const ofWork = [emptyWork(view), boxesTakenOut(view), changedTests(view)];
  const all = [
    ...ofWork.flatMap((found) => (found === null ? [] : open(found))),
    ...failedTests(view).map(open),
    ...changedDeciders(view, { isHold, mayHold, isPassed }),
    ...rewrittenFiles(view).map(open),
    ...fewerThanAtStart(view.checks, view).map(fewer),
  ];
  return [
    ...all,
    ...(all.some(({ isOpen }) => isOpen) ? [] : nothingShown(view)),
    ...unsteady(view),
  ];
}

function changedDeciders(
  view: FindingsView,
  { isHold, mayHold, isPassed }: Readonly<Record<'isHold' | 'mayHold' | 'isPassed', boolean>>,
): readonly ClaimFinding[] {
  const { bent = [] } = view.examination.deciders ?? {};
  if (bent.length === 0) return [];
  const isSwitched = bent.some(({ kind }) => kind === 'program');
  const held = isSwitched ? isHold : mayHold && deciderStood(view);
  const isOpen = isSwitched || !isPassed;
  return [{ found: { finding: 'bent-judge', deciders: bent }, held, isOpen }];
}

/** Whether the old exam has to be run, because without it a finding would block the claim. */
export function needsOldExam(view: FindingsView): boolean {
  const { policy, examination } = view;
  if (policy.proof === 'tell' || (examination.deciders?.tree ?? null) === null) return false;
  return findAgainst(view).some(
    ({ found, held }) =>
      held && (found.finding === 'bent-judge' || found.finding === 'fewer-tests'),
  );
}

/**
 * Whether the tests of the start have to run with everything else as it is now. They do if only test files changed, or
 * if the old exam failed, perhaps only because the work needs the new configuration.
 */
export function needsStartTests(view: FindingsView): boolean {
  const { examination } = view;
  if (examination.oldExam === undefined) return asksChangedTests(view);
  const { bent = [] } = examination.deciders ?? {};
  return (
    examination.oldExam.kind === 'ran' &&
    oldExamOf(view)?.kind === 'failed' &&
    bent.some(({ kind }) => kind === 'file' || kind === 'script') &&
    notClearedBy(examination.oldExam, view).every(
      (check) =>
        (resultOf(check, view.checks)?.tests ?? 0) > 0 && testsWanted(check, view) !== null,
    )
  );
}

/** Returns the number of tests of the start, where a file that did not load counts as one; null if unknown. */
function testsWanted(check: CheckResult, view: ExamView): number | null {
  const start = resultOf(check, view.checksAtStart);
  if (start === undefined || start.tests === null) return null;
  const known = start.tests + (start.failed ?? []).filter(isNamedByFile).length;
  const hadTests = view.examination.deciders?.hadTests === true;
  if (known === 0 && (start.verdict === 'passed' || !hadTests)) return null;
  return Math.max(1, known);
}

/** Returns the checks that fail in the old exam or run fewer tests. Leaves out checks that had no tests at first. */
function notClearedBy(
  exam: Extract<Rerun, { kind: 'ran' }>,
  view: ExamView,
): readonly CheckResult[] {
  const results = judgedIn(exam, view).filter((result) => !isNew(result, view));
  return results.filter(
    (result) => redChecks([result]).length > 0 || fewerThanAtStart([result], view).length > 0,
  );
}

/** Whether all tests of the start pass with everything else as it is now, in each check that failed the old exam. */
function startTestsPass(view: FindingsView): boolean {
  const { oldExam, startTests } = view.examination;
  if (oldExam?.kind !== 'ran' || startTests?.kind !== 'ran') return false;
  const results = judgedIn(startTests, view);
  return notClearedBy(oldExam, view).every((check) => {
    const result = resultOf(check, results);
    const wanted = testsWanted(check, view);
    return (
      result !== undefined &&
      wanted !== null &&
      redChecks([result]).length === 0 &&
      (result.tests ?? 0) >= wanted
    );
  });
}

/** Returns how the old exam failed, or without one, how the run with the tests of the start failed. Null if neither. */
export function failedExamOf(
  view: FindingsView,
): Extract<OldExamAnswer, { kind: 'failed' }> | null {
  const exam = oldExamOf(view);
  if (exam !== null) return exam.kind === 'failed' ? exam : null;
  const { startTests } = view.examination;
  if (startTests === undefined) return null;
  if (startTests.kind === 'not-made') return { kind: 'failed', failed: [], why: startTests.why };
  return { kind: 'failed', failed: redChecks(judgedIn(startTests, view)), why: null };
}

type ExamView = Pick<FindingsView, 'examination' | 'checks' | 'checksAtStart' | 'policy'>;

type OldExamAnswer =
  | { readonly kind: 'passed' }
  | {
      readonly kind: 'failed';
      readonly failed: readonly CheckResult[];
      /** Why the checks could not be run, as a clause; null if they were. */
      readonly why: string | null;
    };

/**
 * Judges the old exam. It is passed if all checks pass in it, with at least as many tests as at the start. A check
 * that had no tests at the start and has some now is left out. Null if there was no exam.
 */
export function oldExamOf(view: ExamView): OldExamAnswer | null {
  const { oldExam } = view.examination;
  if (oldExam === undefined) return null;
  if (oldExam.kind === 'not-made') return { kind: 'failed', failed: [], why: oldExam.why };
  const left = notClearedBy(oldExam, view);
  return left.length === 0
    ? { kind: 'passed' }
    : { kind: 'failed', failed: redChecks(left), why: null };
}

/** Whether a check had nothing to judge at the start, and has tests now. */
function isNew(check: CheckResult, { checks, checksAtStart, examination }: ExamView): boolean {
  const start = resultOf(check, checksAtStart);
  const now = resultOf(check, checks);
  return start !== undefined && judgedNothing(start, examination) && (now?.tests ?? 0) > 0;
}

/** Judges the results from a checkout by the results before the first iteration. */
export function judgedIn(
  rerun: Extract<Rerun, { kind: 'ran' }>,
  { checksAtStart, policy }: Pick<FindingsView, 'checksAtStart' | 'policy'>,
): readonly CheckResult[] {
  return rerun.results.map((result) => judgeCheck(result, checksAtStart, policy));
}

/**
 * Whether anything could judge the work at the start: a file that decides a check, or tests that ran without such a
 * file. Returns false if no check had anything to judge then.
 */
function deciderStood({ examination, checks, checksAtStart }: FindingsView): boolean {
  const hadNothing = checks.every((check) => {
    const start = resultOf(check, checksAtStart);
    return start !== undefined && judgedNothing(start, examination);
  });
  const ranTests = checks.some((check) => (resultOf(check, checksAtStart)?.tests ?? 0) > 0);
  return (examination.deciders?.stood === true || ranTests) && !hadNothing;
}

function emptyWork({ claim, work, policy }: FindingsView): Finding | null {
  if (policy.acceptEmpty) return null;
  const { changed, usedTools } = work;
  if (claim.evidence.kind === 'plan-file') {
    return changed === false ? { finding: 'empty-work', claim: 'plan' } : null;
  }
  // The work on an item of a list has to change a file: mere commands are no work. (ralph ticks the item only later.)
  if (policy.list !== undefined && changed === false) {
    return { finding: 'empty-work', claim: 'list' };
  }
  const isIdle =
    changed === false || (changed === null && AGENTS[policy.agent].tells.includes('calls'));
  return claim.byWords && isIdle && !usedTools ? { finding: 'empty-work', claim: 'words' } : null;
}

function failedTests({ checks }: FindingsView): readonly Finding[] {
  return checks.flatMap(({ name, verdict, tests, failures }) =>
    verdict === 'failed-tests'
      ? { finding: 'failed-tests' as const, check: name, failures: failures ?? 0, ran: tests }
      : [],
  );
}

function rewrittenFiles({ examination, checks }: FindingsView): readonly Finding[] {
  const { rewritten = [] } = examination.deciders ?? {};
  if (rewritten.length === 0) return [];
  const files = rewritten.map(({ path }) => path);
  return [{ finding: 'rewritten-files', checks: checks.map(({ name }) => name), files }];
}

/** Finds that the checks show no work: if they also passed before the work, they only show that nothing broke. */
function nothingShown({
  checks,
  checksAtStart,
  examination,
  policy,
}: FindingsView): readonly ClaimFinding[] {
  const { touchedTests = null } = examination.deciders ?? {};
  if (checks.length === 0 || isAnythingShown({ checks, checksAtStart, touchedTests }) !== false)
    return [];
  const names = checks.map(checkWithTests);
  const found = {
    ...{ finding: 'nothing-shown' as const, checks: names, noTest: touchedTests === 0 },
    hasKnown: checks.some(({ verdict }) => verdict === 'known-failures'),
  };
  return [{ found, held: policy.proof === 'strict', isOpen: true }];
}

function checkWithTests({ name, tests }: Pick<CheckResult, 'name' | 'tests'>): string {
  return tests === null ? name : `${name} (${tests} ${tests === 1 ? 'test' : 'tests'})`;
}

/** Finds checks that failed before on the same tree. This blocks no claim: the cause may lie outside the tree. */
function unsteady({ checks }: FindingsView): readonly ClaimFinding[] {
  return checks.flatMap(({ name, failedIn, verdict }) =>
    failedIn === undefined || verdict === 'failed'
      ? []
      : {
          found: { finding: 'unsteady-check' as const, check: name, iteration: failedIn },
          ...{ held: false, isOpen: false },
        },
  );
}

function boxesTakenOut({ sightings, policy }: FindingsView): Finding | null {
  const { plan, planAtStart = null } = sightings;
  const { planFile, acceptFewer } = policy;
  if (acceptFewer || planFile === null || planAtStart === null) return null;
  return fewerBoxes(planFile, plan ?? { open: 0, done: 0 }, planAtStart);
}

function fewerThanAtStart(
  results: readonly CheckResult[],
  { checksAtStart, policy }: Pick<FindingsView, 'checksAtStart' | 'policy'>,
): readonly Finding[] {
  if (policy.acceptFewer) return [];
  return results.flatMap((result) => {
    const start = resultOf(result, checksAtStart);
    return fewerTests(result.name, result.tests ?? null, start?.tests ?? null) ?? [];
  });
}
