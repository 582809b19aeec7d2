import { countsText, judgedText } from '../../judge/verdict.ts';
import { findingDetail, whenFailed } from '../../proof/findings.ts';
import type { CheckProof, FindingProof, ProofFacts } from '../../proof/statement.ts';
import type { EvidenceProof } from '../../task/task-state.ts';
import { oneLine } from '../../text/untrusted-text.ts';
import { type CheckResult, resultOf } from '../check-result.ts';
import { checkWithTests, findAgainst, judgedIn } from './claim-findings.ts';
import type { ClaimFinding, FindingsView } from './findings-view.ts';

/** What proves a claim that every gate has passed. */
export interface ClaimProof
  extends Pick<ProofFacts, 'tree' | 'checks' | 'findings' | 'changedTestFiles' | 'judge'> {
  readonly evidence: EvidenceProof;
}

/** Returns the findings against a claim as the proof has them. */
export function findingProofs(view: FindingsView): readonly FindingProof[] {
  return findAgainst(view).map(findingProof);
}

/** Returns a finding as the proof has it. */
export function findingProof({ found, held }: Pick<ClaimFinding, 'found' | 'held'>): FindingProof {
  return { finding: found.finding, detail: oneLine(findingDetail(found), 300), held };
}

/** Collects what proves a claim. */
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
      ...proofInWords(view, { tree, isClean: clean.length > 0 }),
      findings: findings.map(({ detail }) => detail),
    },
  };
}

function checkProof(
  result: CheckResult,
  { checksAtStart }: FindingsView,
  programs: Readonly<Record<string, string>>,
): CheckProof {
  const { name, command, exitCode, verdict, durationMs, startedAt, where } = result;
  const start = resultOf(result, checksAtStart);
  return {
    ...{ name, command, exitCode, durationMs, startedAt, where },
    hasPassed: verdict !== 'failed',
    program: programs[command] ?? null,
    baseline: start === undefined ? 'not-run' : start.verdict === 'passed' ? 'passed' : 'failed',
    tests: result.tests,
    failed: result.failures,
    knownFailures: verdict === 'known-failures' ? (start?.failed ?? []) : [],
    otherFailures: verdict === 'known-failures' ? (start?.otherFailures ?? []) : [],
    outputSha256: result.outputSha256,
    log: null,
  };
}

/** Says in one line what is proven, or why nothing is, and which test files are not those of the start. */
function proofInWords(
  view: FindingsView,
  where: { readonly tree: string | null; readonly isClean: boolean },
): Pick<EvidenceProof, 'proven' | 'text'> {
  const { proven, text } = proofOrDoubt(view, where);
  const changed = changedFilesText(view.examination.deciders?.changedTestFiles ?? []);
  const { verdict } = view.examination.judge ?? {};
  const hasSaid = verdict === undefined || text === judgedOnly(view);
  const endings = [changed, hasSaid ? null : judgedText(verdict)].filter((each) => each !== null);
  return { proven, text: oneLine([oneLine(text, 300), ...endings].join('; '), 900) };
}

/** Says that nothing but a judge has looked at the claim; null if a check has, or no judge. */
function judgedOnly({ checks, examination }: FindingsView): string | null {
  const { verdict } = examination.judge ?? {};
  const isJudged = checks.length === 0 && verdict !== undefined && verdict.verdict !== 'none';
  return isJudged ? `judged only (${countsText(verdict)})` : null;
}

function proofOrDoubt(
  view: FindingsView,
  { tree, isClean }: { readonly tree: string | null; readonly isClean: boolean },
): Pick<EvidenceProof, 'proven' | 'text'> {
  const { checks, claim } = view;
  const open = findAgainst(view).find(({ isOpen }) => isOpen);
  if (open !== undefined) return { proven: false, text: findingDetail(open.found) };
  if (checks.length === 0) {
    const alone = `the ${NOUNS[claim.evidence.kind]} alone`;
    return { proven: false, text: judgedOnly(view) ?? alone };
  }
  const names = checks.map(checkWithTests);
  const where = tree === null ? '' : ` on tree ${tree.slice(0, 7)}`;
  const how = isClean ? ' in a clean checkout' : '';
  const unsteady = checks.flatMap(({ name, failedIn }) => {
    if (failedIn === undefined) return [];
    const who = checks.length === 1 ? 'it' : `'${name}'`;
    return `; ${who} failed on the same tree ${whenFailed(failedIn)}`;
  });
  return { proven: true, text: `${names.join(', ')}${where}${how}${unsteady.join('')}` };
}

/** Test files that are named before the rest is only counted. */
const TESTS_NAMED = 3;

/** Says which test files of the start were changed or removed; null if none were. */
function changedFilesText(files: readonly string[]): string | null {
  if (files.length === 0) return null;
  const more = files.length - TESTS_NAMED;
  const named = files.slice(0, TESTS_NAMED).join(', ');
  return `${files.length} test ${files.length === 1 ? 'file' : 'files'} changed: ${named}${more > 0 ? ` and ${more} more` : ''}`;
}

/** What a claim rests on, by the kind of its evidence. */
const NOUNS = {
  promise: 'promise',
  'watch-glob': 'file',
  'file-moved': 'moved file',
  until: 'command',
  'plan-file': 'plan',
  signal: 'signal',
} as const;
