import { countsText, judgedText } from '../../judge/verdict.ts';
import { findingDetail, whenFailed } from '../../proof/findings.ts';
import type { CheckProof, FindingProof, ProofFacts } from '../../proof/statement.ts';
import type { EvidenceProof } from '../../task/task-state.ts';
import { firstFew, oneLine } from '../../text/untrusted-text.ts';
import { type CheckResult, resultOf } from '../check-result.ts';
import { findAgainst, judgedIn } from './claim-findings.ts';
import type { ClaimFinding, FindingsView } from './findings-view.ts';

/** The proof of a claim of completion that has passed all gates (the conditions for accepting it). */
export interface ClaimProof
  extends Pick<ProofFacts, 'tree' | 'checks' | 'findings' | 'changedTestFiles' | 'judge'> {
  readonly evidence: EvidenceProof;
}

/** Returns the findings against a claim in the form in which a proof stores them. */
export function findingProofs(view: FindingsView): readonly FindingProof[] {
  return findAgainst(view).map(findingProof);
}

/** Returns a finding in the form in which a proof stores it. */
export function findingProof({ found, held }: Pick<ClaimFinding, 'found' | 'held'>): FindingProof {
  return { finding: found.finding, detail: oneLine(findingDetail(found), 300), held };
}

/** Builds the proof of a claim. */
export function claimProof(view: FindingsView): ClaimProof {
  const { examination, checks } = view;
  const { judge } = examination;
  const {
    tree = judge?.verdict.tree ?? null,
    programs = {},
    changedTestFiles = [],
  } = examination.deciders ?? {};
  const { cleanCheckout } = examination;
  const clean = cleanCheckout?.kind === 'ran' ? judgedIn(cleanCheckout, view) : [];
  const findings = findingProofs(view);
  return {
    tree,
    checks: [...checks, ...clean].map((result) => checkProof(result, view, programs)),
    findings,
    changedTestFiles,
    ...(examination.judge === undefined ? {} : { judge: examination.judge.verdict }),
    evidence: {
      ...proofInWords(view, clean.length > 0),
      findings: findings.map(({ detail }) => detail),
    },
  };
}

function checkProof(
  result: CheckResult,
  { checksAtStart }: FindingsView,
  programs: Readonly<Record<string, string>>,
): CheckProof {
  const { name, command, exitCode, verdict, durationMs, startedAt, where, tests } = result;
  const start = resultOf(result, checksAtStart);
  const excusedBy = verdict === 'known-failures' ? start : undefined;
  return {
    ...{ name, command, exit_code: exitCode, duration_ms: durationMs, started_at: startedAt },
    program: programs[command] ?? null,
    baseline: start === undefined ? 'not-run' : start.verdict === 'passed' ? 'passed' : 'failed',
    ...{ where, tests, failed: result.failures },
    known_failures: excusedBy?.failed ?? [],
    other_failures: excusedBy?.otherFailures ?? [],
    output_sha256: result.outputSha256,
    hasPassed: verdict !== 'failed',
    log: null,
  };
}

/** Says in one line what is proven, or why nothing is, and which test files of the start were changed. */
function proofInWords(
  view: FindingsView,
  isClean: boolean,
): Pick<EvidenceProof, 'proven' | 'text'> {
  const { proven, text } = proofOrDoubt(view, isClean);
  const changed = changedFilesText(view.examination.deciders?.changedTestFiles ?? []);
  const { verdict } = view.examination.judge ?? {};
  const hasSaid = verdict === undefined || text === judgedOnly(view);
  const endings = [changed, hasSaid ? null : judgedText(verdict)].filter((each) => each !== null);
  return { proven, text: oneLine([oneLine(text, 300), ...endings].join('; '), 900) };
}

/** Says that only a judge has examined the claim; null if there are checks or the judge gave no verdict. */
function judgedOnly({ checks, examination }: FindingsView): string | null {
  const { verdict } = examination.judge ?? {};
  const isJudged = checks.length === 0 && verdict !== undefined && verdict.verdict !== 'none';
  return isJudged ? `judged only (${countsText(verdict)})` : null;
}

function proofOrDoubt(
  view: FindingsView,
  isClean: boolean,
): Pick<EvidenceProof, 'proven' | 'text'> {
  const { checks } = view;
  const open = findAgainst(view).find(({ isOpen }) => isOpen);
  if (open !== undefined) return { proven: false, text: findingDetail(open.found) };
  if (checks.length === 0) {
    return { proven: false, text: judgedOnly(view) ?? 'no check was named (--verify "npm test")' };
  }
  const names = checks.map((check) => checkInWords(check, view));
  const how = isClean ? ' in a clean checkout' : '';
  const unsteady = checks.flatMap(({ name, failedIn }) => {
    if (failedIn === undefined) return [];
    const who = checks.length === 1 ? 'it' : `'${name}'`;
    return `; ${who} failed on the same tree ${whenFailed(failedIn)}`;
  });
  return { proven: true, text: `${names.join(', ')}${how}${unsteady.join('')}` };
}

/** Names a check with its tests and its result at the start: `npm test (2 tests; 1 failed at the start)`. */
function checkInWords(check: CheckResult, { checksAtStart }: FindingsView): string {
  const { name, tests } = check;
  const start = resultOf(check, checksAtStart);
  const failed = start?.failures ?? 0;
  const facts = [
    ...(tests === null ? [] : [`${tests} ${tests === 1 ? 'test' : 'tests'}`]),
    ...(start === undefined || start.verdict === 'passed'
      ? []
      : [`${failed === 0 ? '' : `${failed} `}failed at the start`]),
  ];
  return facts.length === 0 ? name : `${name} (${facts.join('; ')})`;
}

const TESTS_NAMED = 3;

/** Says which test files of the start were changed or removed; null if none were. */
function changedFilesText(files: readonly string[]): string | null {
  if (files.length === 0) return null;
  const named = firstFew(files, undefined, TESTS_NAMED);
  return `${files.length} test ${files.length === 1 ? 'file' : 'files'} changed: ${named}`;
}
