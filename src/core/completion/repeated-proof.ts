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

/** What is not as a proof has it, once its checks have run again. */
export type ProofDifference =
  | { readonly kind: 'check-failed'; readonly result: CheckResult }
  /** Null where the number is unknown. */
  | {
      readonly kind: 'fewer-tests';
      readonly name: string;
      readonly tests: number | null;
      readonly testsThen: number | null;
    }
  /** A decider of the tree has another content. */
  | { readonly kind: 'judge-changed'; readonly name: string };

/** The deciders of a tree, with the SHA-256 of each in hex. */
export type DeciderDigests = ProofFacts['deciders'];

/** Returns the checks of a proof, each once: as it went in the clean checkout, if it ran there, too. */
export function checksOfProof({ checks }: Pick<ProofFacts, 'checks'>): readonly CheckProof[] {
  return checks.filter((check, place) =>
    checks.every((other, at) => at <= place || !isSameCheck(other, check)),
  );
}

/** Returns how the checks stood at the start of the task, as far as that may excuse them again. */
export function knownFailuresOf({ checks }: Pick<ProofFacts, 'checks'>): readonly CheckAtStart[] {
  return checks.map(({ name, command, exit_code: exitCode, tests, ...check }) => ({
    ...{ name, command, exitCode, tests, failed: check.known_failures },
    otherFailures: check.other_failures,
  }));
}

/** What failed is compared with the proof, and so is how many tests ran. */
const JUDGED_AGAIN = { knownFailures: 'allow', acceptFewer: false, acceptFailed: false } as const;

/** Judges checks that ran again as they were judged for the proof. */
export function judgeAgain(
  facts: Pick<ProofFacts, 'checks'>,
  results: readonly RawCheckResult[],
): readonly CheckResult[] {
  const known = knownFailuresOf(facts);
  return results.map((result) => judgeCheck(result, known, JUDGED_AGAIN));
}

/** Compares checks that ran again with their proof. */
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
    // A check that ran no test then proves no less with none now.
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
