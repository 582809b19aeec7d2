import type { CheckResult } from '../../core/completion/check-result.ts';
import type { CommandResult } from '../../core/completion/command-result.ts';
import type { ProofDifference } from '../../core/completion/repeated-proof.ts';
import type { CheckProof, ProofFacts, ProofStatement } from '../../core/proof/statement.ts';
import { firstFew, oneLine, withoutControls } from '../../core/text/untrusted-text.ts';
import { padded } from '../columns.ts';
import { formatDuration, plural } from '../format.ts';
import { commandText } from './land.ts';

const CHECKS_SHOWN = 3;
const FINDINGS_SHOWN = 2;
const NAMES_SHOWN = 4;
const LABEL_COLUMNS = 9;

type Result = ProofStatement['predicate']['result'];

const RESULTS: Readonly<Record<Result, string>> = {
  PASSED: 'passed',
  WARNED: 'passed, with something to know',
  FAILED: 'failed',
};

/** Shows a proof in at most ten lines, and what its judge said. Anyone may have written it, so its texts are cut. */
export function proofScreen(
  facts: ProofFacts,
  result: Result,
  judged: readonly string[] = [],
): string {
  const { tree, committedTree, commit, checks, findings } = facts;
  const names = [...new Set(checks.map(({ name }) => name))];
  const rows: readonly (readonly [label: string, text: string | null])[] = [
    ['result', checks.length === 0 ? 'no check was asked for' : RESULTS[result]],
    ['tree', tree ?? 'none: the task did not work in a git repository'],
    ['committed', committedTree === null ? null : `as tree ${committedTree}`],
    ['commit', commit],
    ...few(names, CHECKS_SHOWN, 'check').map((name) => ['check', checkLine(checks, name)] as const),
    ['judged by', decidersText(facts)],
    ...few(
      findings.map(({ detail }) => detail),
      FINDINGS_SHOWN,
      'finding',
    ).map((text) => ['finding', text] as const),
  ];
  const lines = rows
    .filter(([, text]) => text !== null)
    .map(([label, text]) => `${padded(label, LABEL_COLUMNS)}  ${oneLine(text ?? '', 300)}\n`);
  const ofJudge = judged.map(
    (line) => `${padded('judge', LABEL_COLUMNS)}  ${oneLine(line, 1_500)}\n`,
  );
  return [...lines, ...ofJudge].join('');
}

/** Returns all texts if there is room for them; otherwise the last one counts those that are left out. */
function few(texts: readonly string[], room: number, noun: string): readonly string[] {
  if (texts.length <= room) return texts;
  const left = texts.length - room + 1;
  return [...texts.slice(0, room - 1), `${left} more ${noun}s`];
}

function checkLine(checks: readonly CheckProof[], name: string): string {
  const runs = checks.filter((check) => check.name === name);
  const last = runs.at(-1);
  // This is not the name of a check, but the text that says how many checks are left out.
  if (last === undefined) return name;
  const { exit_code: exitCode, tests, baseline, command } = last;
  const hasPassed = runs.every((run) => run.hasPassed);
  const facts = [
    hasPassed ? 'passed' : `failed (${exitCode === null ? 'killed' : `exit code ${exitCode}`})`,
    ...(last.known_failures.length > 0 ? ['with known failures'] : []),
    ...(tests === null ? [] : [plural(tests, 'test')]),
    formatDuration(last.duration_ms),
    ...(runs.some(({ where }) => where === 'clean') ? ['also in a clean checkout'] : []),
    ...(baseline === 'not-run' ? [] : [`${baseline} at the start`]),
  ];
  const what = command === name ? name : `${name} (${command})`;
  return `${oneLine(what, 150)}: ${facts.join(', ')}`;
}

function decidersText({ deciders, changedTestFiles: changed }: ProofFacts): string | null {
  const tests = `${plural(changed.length, 'test file')} changed: ${listed(changed)}`;
  const parts = [
    ...(deciders.length > 0 ? [listed(deciders.map(({ name }) => name))] : []),
    ...(changed.length > 0 ? [tests] : []),
  ];
  return parts.length === 0 ? null : parts.join('; ');
}

function listed(names: readonly string[]): string {
  return firstFew(names, (name) => oneLine(name, 60), NAMES_SHOWN);
}

/** Lists the commands that `ralph proof --again` runs, so that a person can agree to them. */
export function commandsToRun(
  { setup: { setup, copy } }: ProofFacts,
  commands: readonly string[],
): string {
  return [
    ...(copy.length === 0 ? [] : [`This proof copies into a new checkout: ${copy.join(', ')}`]),
    'This proof runs in a new checkout, with your rights:',
    ...(setup === null ? [] : [setup]).map(indented),
    ...commands.map(indented),
    '',
  ].join('\n');
}

function indented(command: string): string {
  return command.replace(/^/gm, '    ');
}

/** The facts that sentences about a repeated proof mention. */
export interface RepeatFacts {
  /** How sentences name the proof: `the proof of fix-login`, or `this proof`. */
  readonly what: string;
  readonly tree: string;
  /** Where the checkout is kept; null if it was removed. */
  readonly folder: string | null;
}

/** Says that a proof still holds. */
export function stillHolds(results: readonly CheckResult[], { what, tree }: RepeatFacts): string {
  const names = results.map(({ name, tests }) =>
    tests === null ? oneLine(name, 150) : `${oneLine(name, 150)} (${plural(tests, 'test')})`,
  );
  return `${what} still holds: ${names.join(', ')} on tree ${tree.slice(0, 7)} in a clean checkout`;
}

/** Says that the checks passed again, but that the task was not proven the first time. */
export function heldNever(
  results: readonly CheckResult[],
  { what, tree, finding }: RepeatFacts & { readonly finding: string },
): string {
  const names = results.map(({ name }) => oneLine(name, 150)).join(', ');
  return `${names} passed again on tree ${tree.slice(0, 7)}, but ${what} does not say proven: ${oneLine(finding, 300)}`;
}

/** Says what differs from the proof, with the end of each failed command's output. */
export function holdsNoLonger(differences: readonly ProofDifference[], facts: RepeatFacts): string {
  const failed = differences.filter(({ kind }) => kind === 'check-failed').length;
  return doesNotHold(
    differences.map((difference) => differenceText(difference, OUTPUT_CHARS / failed)),
    facts,
  );
}

/** Says that the checks did not run, since the set-up failed. */
export function setupFailed(result: CommandResult, facts: RepeatFacts): string {
  return doesNotHold([`its set-up command failed: ${commandText(result)}`], facts);
}

const OUTPUT_CHARS = 4_000;

function doesNotHold(reasons: readonly string[], { what, tree, folder }: RepeatFacts): string {
  const kept = folder === null ? [] : [`the checkout is kept in ${folder}`];
  return [`${what} does not hold on tree ${tree.slice(0, 7)}:`, ...reasons, ...kept].join('\n');
}

function differenceText(difference: ProofDifference, room: number): string {
  switch (difference.kind) {
    case 'check-failed':
      return `${oneLine(difference.result.name, 150)} failed: ${commandText(difference.result, room)}`;
    case 'fewer-tests': {
      const { name, tests, testsThen } = difference;
      const now = tests === null ? 'an unknown number of tests' : plural(tests, 'test');
      const then = testsThen === null ? 'an unknown number' : `${testsThen}`;
      return `${oneLine(name, 150)} ran ${now}, and ${then} then`;
    }
    case 'judge-changed':
      return `${withoutControls(difference.name)} is not the file that judged then`;
  }
}
