import { firstFew } from '../text/untrusted-text.ts';

/** What speaks against a claim (that the task is complete) although every check passed. */
export type Finding =
  /** No iteration has changed anything. `claim` says what made the claim: a plan file, an item of a list, or words. */
  | { readonly finding: 'empty-work'; readonly claim: 'plan' | 'list' | 'words' }
  | { readonly finding: 'bent-judge'; readonly deciders: readonly ChangedDecider[] }
  /** Fewer tests ran than at the start, or none. A count is null if it is unknown. */
  | {
      readonly finding: 'fewer-tests';
      readonly check: string;
      readonly ran: number | null;
      readonly ranAtStart: number | null;
    }
  /** Test files were changed. With the test files as they were at the start, `checks` still fail as they did then. */
  | {
      readonly finding: 'changed-tests';
      readonly files: readonly ChangedTestFile[];
      readonly checks: readonly string[];
    }
  | {
      readonly finding: 'fewer-boxes';
      readonly file: string;
      readonly boxes: number;
      readonly boxesAtStart: number;
    }
  /** A check ended with 0, although its runner says that tests failed. `ran` is null if it is unknown. */
  | {
      readonly finding: 'failed-tests';
      readonly check: string;
      readonly failures: number;
      readonly ran: number | null;
    }
  | { readonly finding: 'stopped-subagents'; readonly count: number }
  /** Checks rewrote the files with which they compare, so they compared with what they wrote themselves. */
  | {
      readonly finding: 'rewritten-files';
      readonly checks: readonly string[];
      readonly files: readonly string[];
    }
  /** A check passes on the very tree on which it failed in `iteration`; 0 means before the first iteration. */
  | { readonly finding: 'unsteady-check'; readonly check: string; readonly iteration: number }
  /** The checks already passed before the first iteration. `noTest`: no test file was touched. */
  | {
      readonly finding: 'nothing-shown';
      readonly checks: readonly string[];
      readonly noTest: boolean;
      /** Whether tests fail that failed at the start, too. */
      readonly hasKnown: boolean;
    };

/** A test file that existed at the start and was changed or removed. */
export interface ChangedTestFile {
  readonly path: string;
  readonly change: 'changed' | 'removed';
}

/** Something that decides the result of a check and is not what it was at the start. */
export type ChangedDecider =
  | { readonly kind: 'file'; readonly path: string; readonly change: 'new' | 'changed' | 'removed' }
  | { readonly kind: 'script'; readonly file: string; readonly name: string }
  /** The tree at the start and the claimed tree (said to be complete) could not be compared; `why` is a clause. */
  | { readonly kind: 'unknown'; readonly why: string }
  /** PATH leads to another program than at the start. A path is null if the program was not found. */
  | {
      readonly kind: 'program';
      readonly name: string;
      readonly path: string | null;
      readonly pathAtStart: string | null;
    };

/** How many changed files or programs a sentence names; further ones are only counted. */
const MOST_SHOWN = 3;

/** Describes a finding in one line. */
export function findingDetail(found: Finding): string {
  switch (found.finding) {
    case 'empty-work':
      return found.claim === 'words'
        ? 'nothing was changed, and no tool of the agent succeeded'
        : `nothing was changed but the ${found.claim}`;
    case 'bent-judge': {
      const shown = found.deciders.slice(0, MOST_SHOWN).map(deciderText);
      const more = found.deciders.length - shown.length;
      return [
        ...shown,
        ...(more > 0 ? [`${more} more of what decides the checks changed`] : []),
      ].join(', ');
    }
    case 'fewer-tests':
      return testsText(found.check, found.ran, found.ranAtStart);
    case 'changed-tests':
      return changedTestsText(found.files, found.checks);
    case 'fewer-boxes':
      return `${found.file} has ${counted(found.boxes, 'checkbox', 'checkboxes')}, and had ${found.boxesAtStart} at the start`;
    case 'failed-tests':
      return `'${found.check}' ended with 0, although ${failedOf(found.failures, found.ran)} failed`;
    case 'stopped-subagents':
      return `the system stopped ${counted(found.count, 'sub-agent', 'sub-agents')} before the end`;
    case 'rewritten-files':
      return `${found.checks.map((name) => `'${name}'`).join(', ')} changed ${firstFew(found.files, undefined, MOST_SHOWN)}, and so compared with what it wrote itself`;
    case 'unsteady-check':
      return `'${found.check}' passes on a tree on which it failed ${whenFailed(found.iteration)}`;
    case 'nothing-shown':
      return `${found.checks.join(', ')} ${found.hasKnown ? 'failed in the same tests' : 'passed'} before the work began as ${found.checks.length === 1 ? 'it does' : 'they do'} now${found.noTest ? ', and no test is new' : ''}`;
  }
}

/** Returns how many tests failed, such as `2 of 3 tests`. `failures` may include files and hooks, so exceed `ran`. */
export function failedOf(failures: number, ran: number | null): string {
  return ran === null || failures > ran
    ? counted(failures, 'test', 'tests')
    : `${failures} of ${counted(ran, 'test', 'tests')}`;
}

/** Returns when a check failed: in an iteration, or, for 0, before the first one. */
export function whenFailed(iteration: number): string {
  return iteration === 0 ? 'before iteration 1' : `in iteration ${iteration}`;
}

/** Describes a finding and what to do about it, such as the flag that accepts it. */
export function findingText(found: Finding): string {
  return `${findingDetail(found)}; ${remedy(found)}`;
}

function remedy(found: Finding): string {
  switch (found.finding) {
    case 'stopped-subagents':
      return 'a --verify command can vouch for the work';
    case 'unsteady-check':
      return 'what was wrong may lie outside the tree';
    case 'nothing-shown':
      return 'a new test, a check that failed before the work, or --proof hold accepts it';
    default: {
      const flags = acceptingFlags(found);
      const isShort = flags.length > 0 && flags.length <= MOST_SHOWN;
      return `${isShort ? flags.join(' ') : '--accept-changed GLOB'} accepts it`;
    }
  }
}

/** Returns the flags that make ralph accept a finding, each with its argument; empty if there are none. */
export function acceptingFlags(found: Finding): readonly string[] {
  switch (found.finding) {
    case 'empty-work':
      return ['--accept-empty'];
    case 'bent-judge':
      return acceptingChanges(found.deciders.flatMap(acceptedNames));
    case 'rewritten-files':
      return acceptingChanges(found.files);
    case 'changed-tests': {
      const changed = found.files.filter(({ change }) => change === 'changed');
      return [
        ...acceptingChanges(changed.map(({ path }) => path)),
        ...(changed.length < found.files.length ? ['--accept-fewer'] : []),
      ];
    }
    case 'fewer-tests':
    case 'fewer-boxes':
      return ['--accept-fewer'];
    case 'failed-tests':
      return ['--accept-failed'];
    case 'nothing-shown':
      return ['--proof hold'];
    case 'stopped-subagents':
    case 'unsteady-check':
      return [];
  }
}

/** Matches a flag as `acceptingFlags` writes it, so that a state file cannot put other words into a shown command. */
export const ACCEPTING_FLAG =
  /^(?:--accept-(?:empty|failed|fewer)|--proof hold|--accept-changed (?:[\w./@%+=:,-]+|'[^'\p{Cc}]*(?:'\\''[^'\p{Cc}]*)*'))$/u;

function acceptingChanges(names: readonly string[]): readonly string[] {
  const flags = [...new Set(names)].map((name) => `--accept-changed ${quoted(name)}`);
  return flags.filter((flag) => ACCEPTING_FLAG.test(flag));
}

/** Returns what `--accept-changed` has to name: a file by its path, a script by its `package.json`. */
function acceptedNames(decider: ChangedDecider): readonly string[] {
  switch (decider.kind) {
    case 'file':
      return [decider.path];
    case 'script':
      return [decider.file];
    case 'program':
      return [decider.name];
    case 'unknown':
      return [];
  }
}

function quoted(word: string): string {
  return /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function deciderText(decider: ChangedDecider): string {
  switch (decider.kind) {
    case 'file':
      return decider.change === 'changed'
        ? `${decider.path} changed`
        : `${decider.path} ${decider.change === 'new' ? 'is new' : 'is gone'}`;
    case 'script':
      return `the script '${decider.name}' of ${decider.file} changed`;
    case 'unknown':
      return `what decides the checks could not be compared with the start: ${decider.why}`;
    case 'program':
      return `${decider.name} is ${decider.path ?? 'found nowhere'} now, and was ${decider.pathAtStart ?? 'found nowhere'} at the start`;
  }
}

function testsText(check: string, ran: number | null, ranAtStart: number | null): string {
  const before = ranAtStart === null ? '' : `, and ${ranAtStart} at the start`;
  if (ran === null) return `'${check}' does not say how many tests ran${before}`;
  return `'${check}' ran ${ran === 0 ? 'no test' : counted(ran, 'test', 'tests')}${before}`;
}

function changedTestsText(files: readonly ChangedTestFile[], checks: readonly string[]): string {
  const shown = files
    .slice(0, MOST_SHOWN)
    .map(({ path, change }) => `${path} ${change === 'changed' ? 'changed' : 'is gone'}`);
  const more = files.length - shown.length;
  const what = [
    ...shown,
    ...(more > 0 ? [`${counted(more, 'more test file', 'more test files')}`] : []),
  ];
  const verb = checks.length === 1 ? 'fails' : 'fail';
  return `${what.join(', ')}, and with the tests of the start ${checks.join(', ')} still ${verb}`;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Returns a finding if a passing check ran no test or fewer than at the start, or no longer says how many. */
export function fewerTests(
  check: string,
  ran: number | null,
  ranAtStart: number | null,
): Finding | null {
  const isFewer = ran === null ? ranAtStart !== null : ran === 0 || ran < (ranAtStart ?? 0);
  return isFewer ? { finding: 'fewer-tests', check, ran, ranAtStart } : null;
}

interface Boxes {
  readonly open: number;
  readonly done: number;
}

/** Compares the boxes of a plan with those at the start. Returns null if there are as many or more. */
export function fewerBoxes(file: string, now: Boxes, atStart: Boxes): Finding | null {
  const boxes = now.open + now.done;
  const boxesAtStart = atStart.open + atStart.done;
  return boxes < boxesAtStart ? { finding: 'fewer-boxes', file, boxes, boxesAtStart } : null;
}
