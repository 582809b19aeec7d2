import { fewerTests } from '../proof/findings.ts';
import type { CheckProof, ProofFacts } from '../proof/statement.ts';
import {
  type CheckResult,
  isSameCheck,
  judgeCheck,
  type RawCheckResult,
  resultOf,
} from './check-result.ts';
import type { CheckAtStart } from './known-failures.ts';

/** A difference between a proof (the record of the checks of a completed task) and a later run of these checks. */
export type ProofDifference =
  | { readonly kind: 'check-failed'; readonly result: CheckResult }
  /** A number of tests is null if it is unknown. */
  | {
      readonly kind: 'fewer-tests';
      readonly name: string;
      readonly tests: number | null;
      readonly testsThen: number | null;
    }
  /** A file that decides the checks has changed. */
  | { readonly kind: 'judge-changed'; readonly name: string };

/** The files of a tree that decide its checks (deciders), with the SHA-256 of each in hex. */
export type DeciderDigests = ProofFacts['deciders'];

/** Returns each check of a proof once. If a check also ran in the clean checkout, returns that result. */
export function checksOfProof({ checks }: Pick<ProofFacts, 'checks'>): readonly CheckProof[] {
  return checks.filter((check, place) =>
    checks.every((other, at) => at <= place || !isSameCheck(other, check)),
  );
}

/** Presents the checks of a proof as results from a task's start, so that the same known failures are excused. */
export function knownFailuresOf({ checks }: Pick<ProofFacts, 'checks'>): readonly CheckAtStart[] {
  return checks.map(({ name, command, exit_code: exitCode, tests, ...check }) => ({
    ...{ name, command, exitCode, tests, failed: check.known_failures },
    otherFailures: check.other_failures,
  }));
}

/** The rules for a repeated check: the proof's known failures may excuse it, but it must not run fewer tests. */
const JUDGED_AGAIN = { knownFailures: 'allow', acceptFewer: false, acceptFailed: false } as const;

/** Judges the results of checks that were run again, by the known failures of the proof. */
export function judgeAgain(
  facts: Pick<ProofFacts, 'checks'>,
  results: readonly RawCheckResult[],
): readonly CheckResult[] {
  const known = knownFailuresOf(facts);
  return results.map((result) => judgeCheck(result, known, JUDGED_AGAIN));
}

/** Returns how repeated checks, and the files that decide them, differ from a proof. */
export function differencesFrom(
  facts: ProofFacts,
  results: readonly CheckResult[],
  deciders: DeciderDigests,
): readonly ProofDifference[] {
  const then = checksOfProof(facts);
  const ofChecks = results.flatMap((result): ProofDifference[] => {
    if (result.verdict === 'failed') return [{ kind: 'check-failed', result }];
    const { name, tests } = result;
    const testsThen = resultOf(result, then)?.tests ?? null;
    // A check that ran no test for the proof may run none now.
    const isFewer = tests !== testsThen && fewerTests(name, tests, testsThen) !== null;
    return isFewer ? [{ kind: 'fewer-tests', name, tests, testsThen }] : [];
  });
  const ofDeciders = facts.deciders.flatMap(({ name, sha256 }): ProofDifference[] =>
    deciders.some((each) => each.name === name && each.sha256 === sha256)
      ? []
      : [{ kind: 'judge-changed', name }],
  );
  return [...ofChecks, ...ofDeciders];
}
