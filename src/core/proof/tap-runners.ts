import { MOST_NAMES, type Runner, type TestTally } from './test-tally.ts';

const POINT = /^((?: {4})*)(not ok|ok) (\d+)(?: -)?(?: (.*))?$/;
const TIME = / # time=[\d.]+m?s\b/;
/** The remark at a test that was skipped or is still to be written. Such a test does not count. */
const DIRECTIVE = /(?:^| )# *(?:skip\w*|todo)\b.*$/i;

/** One TAP document: a plan `1..N`, and N tests without indentation, each with its inner tests above it. */
class TapDocument {
  planned: number | null = null;
  points = 0;
  private passed = 0;
  private unnamed = 0;
  /** The names of the failed tests; '' for a test without a name, or one beyond the number of names that are kept. */
  private readonly failed: string[] = [];
  /** For each depth of nesting, how many tests had failed before the first test of that depth. */
  private readonly failedBefore: number[] = [];
  /** The pass (run of the suite) of the first test. The document's end may be noticed only in the next pass. */
  private pass = 0;

  /** Whether the document has begun, so that another test number 1 belongs to the next document. */
  get isBegun(): boolean {
    return this.points > 0 || this.planned === 0;
  }

  /** Counts a test. A test that only sums up its inner tests is not counted itself. */
  take(pass: number, depth: number, isOk: boolean, isIdle: boolean, name: string): void {
    const before = this.failedBefore[depth + 1];
    this.failedBefore.length = Math.min(this.failedBefore.length, depth + 1);
    for (let at = 0; at <= depth; at += 1) this.failedBefore[at] ??= this.failed.length;
    if (depth === 0 && this.points === 0) this.pass = pass;
    if (depth === 0) this.points += 1;
    if (before !== undefined && isIdle) this.failed.length = Math.min(this.failed.length, before);
    else if (before !== undefined && !isOk && this.failed.length === before) this.unnamed += 1;
    else if (before === undefined && !isIdle) {
      if (isOk) this.passed += 1;
      else this.failed.push(this.failed.length > MOST_NAMES ? '' : name);
    }
  }

  /** Notes that the runner gave up, so the remaining tests were skipped. */
  bailOut(): void {
    this.unnamed += 1;
  }

  /** Adds the counts to a tally. Returns false for what is not TAP: no plan, or none of the planned tests. */
  addTo(tally: TestTally): boolean {
    if (this.planned === null || (this.points === 0 && this.planned > 0)) return false;
    const { pass } = tally;
    tally.pass = this.pass;
    tally.add(this.passed, this.failed.length);
    for (const name of this.failed) if (name !== '') tally.name(name);
    const broken = this.unnamed + (this.points < this.planned ? 1 : 0);
    if (broken > 0) tally.unnamed(broken);
    tally.pass = pass;
    return true;
  }
}

/** Reads the TAP of tap, tape, ava, bats, mocha, vitest and Perl, and the summary of `prove`, but not `node --test`. */
export function tap(tally: TestTally): Runner {
  let document = new TapDocument();
  /** For each depth, the name of the test that contains the following inner tests. */
  let path: string[] = [];
  /** The last comment above tests without indentation, which tape uses as their heading. */
  let group = '';
  /** The lines of tests whose inner tests follow in braces. */
  let open: string[] = [];
  let isInDetails = false;
  let isAfterFailure = false;
  /** Whether `prove` prints every test, how many tests failed, and how many files failed without a failed test. */
  let isVerbose = false;
  let failures = 0;
  let broken = 0;
  let isCounted = true;

  const begin = (): void => {
    document = new TapDocument();
    path = [];
    group = '';
    open = [];
  };
  const close = (): void => {
    if (document.addTo(tally)) isVerbose = true;
    begin();
  };
  const test = (depth: number, isOk: boolean, text: string): void => {
    const named = text.replace(TIME, '');
    const name = named.replace(DIRECTIVE, '');
    const around = (depth === 0 ? [group] : path.slice(0, depth)).filter(Boolean);
    document.take(
      tally.pass,
      depth,
      isOk,
      name !== named,
      name === '' ? '' : [...around, name].join(' > '),
    );
    path.length = Math.min(path.length, depth);
    isAfterFailure = !isOk;
  };

  const readTap = (line: string): void => {
    const [, indent = '', word, number, text = ''] = POINT.exec(line) ?? [];
    const [, planned] = /^1\.\.(\d+)(?: # .*)?$/.exec(line) ?? [];
    const [, depth = '', title] = /^((?: {4})*)# Subtest: (.*)$/.exec(line) ?? [];
    const [, comment] = /^# (\S.*)$/.exec(line) ?? [];
    if (word !== undefined) {
      if (indent === '' && number === '1' && document.isBegun) close();
      const at = indent.length / 4;
      if (text.endsWith(' {')) {
        open[at] = line.slice(0, -2);
        path[at] = text.slice(0, -2).replace(TIME, '');
      } else test(at, word === 'ok', text);
    } else if (planned !== undefined) {
      if (document.planned !== null) close();
      document.planned = Number(planned);
      if (document.points === 0) group = '';
    } else if (/^TAP version \d+$/.test(line)) close();
    else if (/^Bail out!/.test(line)) document.bailOut();
    else if (/^# suites \d+$/.test(line)) begin();
    else if (title !== undefined) path[depth.length / 4] = title;
    else if (comment !== undefined && !isAfterFailure) group = comment;
    else if (/^(?: {4})*\}$/.test(line)) {
      const at = (line.length - 1) / 4;
      const whole = open[at];
      open.length = Math.min(open.length, at);
      if (whole !== undefined) readTap(whole);
    }
  };

  /** Reads a line of the summary of `prove`, which counts only if the tests of the files were not printed. */
  const readProve = (line: string): void => {
    const [, failed] = /^\S.* \(Wstat: .*Tests: \d+ Failed: (\d+)\)$/.exec(line) ?? [];
    const [, tests] = /^Files=\d+, Tests=(\d+), /.exec(line) ?? [];
    if (failed !== undefined) {
      failures += Number(failed);
      isCounted = failed !== '0';
    } else if (/^ {2}(?:Non-zero exit status|Parse errors):/.test(line)) {
      if (!isCounted) broken += 1;
      isCounted = true;
    } else if (tests !== undefined) {
      close();
      if (!isVerbose) tally.add(Math.max(0, Number(tests) - failures), failures);
      if (!isVerbose && broken > 0) tally.unnamed(broken);
      failures = broken = 0;
      isVerbose = false;
    }
  };

  return {
    read(line) {
      if (/^ *---$/.test(line)) isInDetails = true;
      else if (/^ *\.\.\.$/.test(line)) isInDetails = isAfterFailure = false;
      else if (!line.startsWith(' ')) isInDetails = false;
      if (!isInDetails) readTap(line);
      readProve(line);
    },
    end: close,
  };
}
