import { findingDetail } from '../proof/findings.ts';
import type { CheckProof, FindingProof, ProofFacts } from '../proof/statement.ts';
import type { EvidenceProof } from '../task/task-state.ts';
import { oneLine } from '../text/untrusted-text.ts';
import { type CheckResult, isSameCheck } from './check-result.ts';
import { type ClaimFinding, type FindingsView, findAgainst, judgedIn } from './claim-findings.ts';

/** What proves a claim that every gate has passed. */
export interface ClaimProof
  extends Pick<ProofFacts, 'tree' | 'checks' | 'findings' | 'changedTests'> {
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
  const { tree = null, programs = {}, changedTests = 0 } = examination.judges ?? {};
  const { cleanCheckout } = examination;
  const clean = cleanCheckout?.kind === 'ran' ? judgedIn(cleanCheckout, view) : [];
  const findings = findingProofs(view);
  return {
    tree,
    checks: [...checks, ...clean].map((result) => checkProof(result, view, programs)),
    findings,
    changedTests,
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
  const start = checksAtStart?.find((each) => isSameCheck(each, result));
  return {
    ...{ name, command, exitCode, durationMs, startedAt, where },
    hasPassed: verdict !== 'failed',
    program: programs[command] ?? null,
    baseline: start === undefined ? 'not-run' : start.verdict === 'passed' ? 'passed' : 'failed',
    tests: result.tests,
    failed: result.failed?.length ?? null,
    knownFailures: verdict === 'known-failures' ? (start?.failed ?? []) : [],
    outputSha256: result.outputSha256,
    log: null,
  };
}

/** Says in one line what is proven, or why nothing is. */
function proofInWords(
  view: FindingsView,
  { tree, isClean }: { readonly tree: string | null; readonly isClean: boolean },
): Pick<EvidenceProof, 'proven' | 'text'> {
  const { checks, claim } = view;
  const open = findAgainst(view).find(({ isOpen }) => isOpen);
  if (open !== undefined) return { proven: false, text: oneLine(findingDetail(open.found), 300) };
  if (checks.length === 0) {
    return { proven: false, text: `the ${NOUNS[claim.evidence.kind]} alone` };
  }
  const names = checks.map(({ name, tests }) =>
    tests === null ? name : `${name} (${tests} ${tests === 1 ? 'test' : 'tests'})`,
  );
  const where = tree === null ? '' : ` on tree ${tree.slice(0, 7)}`;
  const how = isClean ? ' in a clean checkout' : '';
  return { proven: true, text: oneLine(`${names.join(', ')}${where}${how}`, 300) };
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
