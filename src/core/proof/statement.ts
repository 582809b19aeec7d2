import type { JudgeVerdict } from '../judge/verdict.ts';

/* The proof of a task as an in-toto statement. It is not signed: a person who doubts it has to run its checks again. */

export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
export const PREDICATE_TYPE = 'https://in-toto.io/attestation/test-result/v0.1';

/** The result of a check at the start and on the claimed tree (the one said to be complete), in the JSON form. */
interface CheckOfStatement {
  readonly name: string;
  readonly command: string;
  /** Null if the check was killed, for example at its time limit. */
  readonly exit_code: number | null;
  readonly duration_ms: number;
  /** When the check began, as an ISO instant. */
  readonly started_at: string;
  /** The program that the check runs, as found on PATH; null if it runs none. */
  readonly program: string | null;
  readonly baseline: 'passed' | 'failed' | 'not-run';
  readonly where: 'work-tree' | 'clean';
  /** How many tests ran, and how many of them failed; null if unknown. */
  readonly tests: number | null;
  readonly failed: number | null;
  /** The failed tests that were excused since they failed at the start, too; empty if the check needed no excuse. */
  readonly known_failures: readonly string[];
  /** Other lines of output that reported a failure at the start, too; empty if the check needed no excuse. */
  readonly other_failures: readonly string[];
  /** SHA-256 of the check's output, in hex. */
  readonly output_sha256: string;
  /** The path of the log with the check's output; null if there is none. */
  readonly log: string | null;
}

export interface CheckProof extends CheckOfStatement {
  readonly hasPassed: boolean;
}

/** A finding against the claim that the task is complete, in the form in which the proof stores it. */
export interface FindingProof {
  /** The name of the finding, such as `bent-judge`. */
  readonly finding: string;
  readonly detail: string;
  readonly held: boolean;
}

/** How a checkout is prepared for the checks, and in which folder they run. */
export interface CheckSetup {
  /** The folder in which checks run, relative to the root of the work tree; empty for the root. */
  readonly folder: string;
  /** The command of `--setup`, and the patterns of `--copy`. */
  readonly setup: string | null;
  readonly copy: readonly string[];
  /** The time limit for one command. */
  readonly timeout_ms: number;
}

export interface ProofFacts {
  /** The tree that was judged; null outside git. */
  readonly tree: string | null;
  /** The tree that git would commit by its own rules, if it differs from `tree`; otherwise null. */
  readonly committedTree: string | null;
  readonly commit: string | null;
  /** The files that decide the results of the checks, each with its SHA-256 in hex. */
  readonly deciders: readonly { readonly name: string; readonly sha256: string }[];
  readonly checks: readonly CheckProof[];
  readonly findings: readonly FindingProof[];
  /** Test files of the start that were changed or removed; only a person can tell why. */
  readonly changedTestFiles: readonly string[];
  readonly setup: CheckSetup;
  /** What a second agent said about the claim, which proves nothing; absent if none was asked. */
  readonly judge?: JudgeVerdict;
}

interface ProofSubject {
  readonly name: string;
  readonly digest: Readonly<Record<string, string>>;
}

/** The statement in its JSON form. */
export interface ProofStatement {
  readonly _type: typeof STATEMENT_TYPE;
  readonly subject: readonly ProofSubject[];
  readonly predicateType: typeof PREDICATE_TYPE;
  readonly predicate: {
    readonly result: 'PASSED' | 'WARNED' | 'FAILED';
    readonly configuration: readonly {
      readonly name: string;
      readonly digest: { readonly sha256: string };
    }[];
    readonly passedTests: readonly string[];
    readonly warnedTests: readonly string[];
    readonly failedTests: readonly string[];
    readonly ralph_checks: readonly CheckOfStatement[];
    readonly ralph_findings: readonly FindingProof[];
    readonly ralph_changed_tests: number;
    readonly ralph_changed_test_files: readonly string[];
    readonly ralph_setup: CheckSetup;
    readonly ralph_judge?: JudgeVerdict;
  };
}

/**
 * Builds the statement. A check that ran in several places is listed once: as failed if it failed anywhere, and as
 * warned if it passed although its exit code is not 0, because of known failures.
 */
export function proofStatement(facts: ProofFacts): ProofStatement {
  const { tree, committedTree, commit, deciders, checks, findings, changedTestFiles, setup } =
    facts;
  const names = [...new Set(checks.map(({ name }) => name))];
  const verdicts = new Map(names.map((name) => [name, verdictOf(checks, name)]));
  const namesOf = (verdict: Verdict) => names.filter((name) => verdicts.get(name) === verdict);
  const subject = [
    ...(tree === null ? [] : [{ name: 'tree', digest: { gitTree: tree } }]),
    ...(committedTree === null || committedTree === tree
      ? []
      : [{ name: 'committed', digest: { gitTree: committedTree } }]),
    ...(commit === null ? [] : [{ name: 'commit', digest: { gitCommit: commit } }]),
  ];
  return {
    _type: STATEMENT_TYPE,
    subject,
    predicateType: PREDICATE_TYPE,
    predicate: {
      result: resultOf([...verdicts.values()], findings),
      configuration: deciders.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
      passedTests: namesOf('passed'),
      warnedTests: namesOf('warned'),
      failedTests: namesOf('failed'),
      ralph_checks: checks.map(({ hasPassed, ...check }) => check),
      ralph_findings: findings.map(({ finding, detail, held }) => ({ finding, detail, held })),
      ralph_changed_tests: changedTestFiles.length,
      ralph_changed_test_files: changedTestFiles,
      ralph_setup: setup,
      ...(facts.judge === undefined ? {} : { ralph_judge: facts.judge }),
    },
  };
}

type Verdict = 'passed' | 'warned' | 'failed';

function verdictOf(checks: readonly CheckProof[], name: string): Verdict {
  const runs = checks.filter((check) => check.name === name);
  if (runs.some(({ hasPassed }) => !hasPassed)) return 'failed';
  return runs.some(({ exit_code }) => exit_code !== 0) ? 'warned' : 'passed';
}

/** Returns the overall result. Without any check it is a warning, since the agent's promise alone proves nothing. */
function resultOf(
  verdicts: readonly Verdict[],
  findings: readonly FindingProof[],
): ProofStatement['predicate']['result'] {
  const isHeld = findings.some(({ held }) => held);
  if (verdicts.includes('failed') || isHeld) return 'FAILED';
  return verdicts.length === 0 || verdicts.includes('warned') || findings.length > 0
    ? 'WARNED'
    : 'PASSED';
}

/** Returns the facts of a statement; the inverse of `proofStatement`. */
export function factsOfStatement({ subject, predicate }: ProofStatement): ProofFacts {
  const digest = (name: string, kind: string): string | null =>
    subject.find((each) => each.name === name)?.digest[kind] ?? null;
  return {
    tree: digest('tree', 'gitTree'),
    committedTree: digest('committed', 'gitTree'),
    commit: digest('commit', 'gitCommit'),
    deciders: predicate.configuration.map((each) => ({
      name: each.name,
      sha256: each.digest.sha256,
    })),
    checks: predicate.ralph_checks.map((check) => ({
      ...check,
      hasPassed: !predicate.failedTests.includes(check.name),
    })),
    findings: predicate.ralph_findings,
    changedTestFiles: predicate.ralph_changed_test_files,
    setup: predicate.ralph_setup,
    ...(predicate.ralph_judge === undefined ? {} : { judge: predicate.ralph_judge }),
  };
}
