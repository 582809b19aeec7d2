import { MOST_NAMES, type Runner, type TestTally } from './test-tally.ts';

const POINT = /^((?: {4})*)(not ok|ok) (\d+)(?: -)?(?: (.*))?$/;
const TIME = / # time=[\d.]+m?s\b/;
/** A test that was skipped or is still to be done decides nothing. */
const DIRECTIVE = /(?:^| )# *(?:skip\w*|todo)\b.*$/i;

/** One file of TAP: a plan `1..N`, and N tests at its left edge, each with those inside of it above. */
class TapDocument {
  planned: number | null = null;
  points = 0;
  private passed = 0;
  private unnamed = 0;
  /** The names of failed tests, empty if they have none, or there are too many to keep. */
  private readonly failed: string[] = [];
  /** For each depth, how many had failed before the first test there. */
  private readonly failedBefore: number[] = [];
  /** The pass of its first test: its end is known only when something else begins. */
  private pass = 0;

  /** Whether a first test belongs to the next file. */
  get isBegun(): boolean {
    return this.points > 0 || this.planned === 0;
  }

  /** Takes a test. One that sums up those inside of it is no test of its own. */
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

  /** Notes that the tests behind were left out. */
  bailOut(): void {
    this.unnamed += 1;
  }

  /** Adds what it says. Without a plan it is no TAP: false. */
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

/**
 * TAP as of tap, tape, ava, bats, mocha, vitest and Perl, and the summary of `prove`. The TAP of `node --test` has a
 * summary that is read elsewhere.
 */
export function tap(tally: TestTally): Runner {
  let document = new TapDocument();
  /** For each depth, the test to which those below belong. */
  let path: string[] = [];
  /** The comment above tests at the left edge, as tape has it. */
  let group = '';
  /** The lines of tests whose own tests follow in braces. */
  let open: string[] = [];
  let isInDetails = false;
  let isAfterFailure = false;
  /** Whether `prove` shows the files. What it sums up of them: failed tests, and files that failed beside those. */
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

  /** Reads the lines of a file of TAP. */
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

  /** Reads the summary of `prove`, which counts only if the files themselves were not shown. */
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
