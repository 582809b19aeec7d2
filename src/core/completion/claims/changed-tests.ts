import { isTestName } from '../../proof/decider-names.ts';
import type { Finding } from '../../proof/findings.ts';
import { type CheckResult, judgeCheck, redChecks, resultOf } from '../check-result.ts';
import type { FindingsView } from './findings-view.ts';
import { judgedNothing } from './judged-nothing.ts';

/*
 * A check that failed at the start may pass only because its tests were changed. So the tests of the start are asked:
 * those that were red have to be green in the form in which they were red. A test that was green holds nobody up.
 */

type View = Pick<FindingsView, 'examination' | 'checks' | 'checksAtStart' | 'policy'>;

/** Whether the tests of the start have to decide about tests that were changed. */
export function asksChangedTests(view: View): boolean {
  const { policy, examination } = view;
  const files = examination.deciders?.openTestFiles ?? [];
  const hasTree = (examination.deciders?.tree ?? null) !== null;
  return policy.proof !== 'tell' && hasTree && files.length > 0 && redAtStart(view).length > 0;
}

/** Finds checks that failed at the start, and still fail with the tests of the start. Null before these were run. */
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

/** The checks that failed at the start, and had something to judge by. */
function redAtStart({ checks, checksAtStart, examination }: View): readonly CheckResult[] {
  return (checksAtStart ?? []).filter(
    (start) =>
      start.verdict !== 'passed' &&
      !judgedNothing(start, examination.deciders?.hadTests === true) &&
      resultOf(start, checks) !== undefined,
  );
}

/** Whether the tests that were red at the start pass now; others may fail, if they are known by name. */
function turnedGreen(result: CheckResult, start: CheckResult): boolean {
  if (redChecks([result]).length === 0) return true;
  const [failed, red] = [result.failed ?? [], start.failed ?? []];
  const isKnown = failed.length > 0 && red.length > 0 && !red.some(isNamedByFile);
  const ranAll = result.tests !== null && result.tests >= (start.tests ?? 0);
  return isKnown && ranAll && failed.every((name) => !red.includes(name));
}

/** Whether a failed test is named by its file: it could not be loaded, so all in it was red. */
export function isNamedByFile(name: string): boolean {
  const file = name.replace(/ \[.*\]$/, '');
  // unittest has the class in parentheses: `test_adds (test_calc.T.test_adds)`.
  return !/ > |::|[()]/.test(file) && isTestName(file);
}
