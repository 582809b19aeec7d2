import { isTestName } from '../../proof/decider-names.ts';
import type { Finding } from '../../proof/findings.ts';
import { type CheckResult, judgeCheck, redChecks, resultOf } from '../check-result.ts';
import type { FindingsView } from './findings-view.ts';
import { judgedNothing } from './judged-nothing.ts';

/*
 * A check that failed at the start may pass only because its tests were changed. So the tests of the start are run
 * again, unchanged: those that failed then must pass now. Tests that passed at the start are not required to pass.
 */

type View = Pick<FindingsView, 'examination' | 'checks' | 'checksAtStart' | 'policy'>;

/** Whether the tests of the start have to be run because the work changed test files. */
export function asksChangedTests(view: View): boolean {
  const { policy, examination } = view;
  const files = examination.deciders?.openTestFiles ?? [];
  const hasTree = (examination.deciders?.tree ?? null) !== null;
  return policy.proof !== 'tell' && hasTree && files.length > 0 && redAtStart(view).length > 0;
}

/** Finds checks that failed at the start and still fail with the tests of the start. Null if these were not run. */
export function changedTests(view: View): Finding | null {
  const { examination, policy, checksAtStart } = view;
  const rerun = examination.startTests ?? examination.oldExam;
  if (rerun === undefined || !asksChangedTests(view)) return null;
  const red = redAtStart(view);
  const failing = red.filter((start) => {
    if (rerun.kind === 'not-made') return true;
    const raw = resultOf(start, rerun.results);
    return raw === undefined || !turnedGreen(judgeCheck(raw, checksAtStart, policy), start);
  });
  if (failing.length === 0) return null;
  const files = examination.deciders?.openTestFiles ?? [];
  return { finding: 'changed-tests', files, checks: failing.map(({ name }) => name) };
}

/** Returns the start results of the current checks that failed at the start although they had something to judge. */
function redAtStart({ checks, checksAtStart, examination }: View): readonly CheckResult[] {
  return (checksAtStart ?? []).filter(
    (start) =>
      start.verdict !== 'passed' &&
      !judgedNothing(start, examination) &&
      resultOf(start, checks) !== undefined,
  );
}

/** Whether the tests that failed at the start pass now. Others may fail if each failed test is known by its name. */
function turnedGreen(result: CheckResult, start: CheckResult): boolean {
  if (redChecks([result]).length === 0) return true;
  const [failed, red] = [result.failed ?? [], start.failed ?? []];
  const isKnown = failed.length > 0 && red.length > 0 && !red.some(isNamedByFile);
  const ranAll = result.tests !== null && result.tests >= (start.tests ?? 0);
  return isKnown && ranAll && failed.every((name) => !red.includes(name));
}

/** Whether a failed test has a file's name. Then the file could not be loaded, and all its tests count as failed. */
export function isNamedByFile(name: string): boolean {
  const file = name.replace(/ \[.*\]$/, '');
  // These signs occur in names of single tests. unittest writes `test_adds (test_calc.T.test_adds)`.
  return !/ > |::|[()]/.test(file) && isTestName(file);
}
