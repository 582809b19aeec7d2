import { withoutControls } from '../text/untrusted-text.ts';
import type { AttemptFacts } from './attempt.ts';
import { sharedFailureAtStart } from './shared-wordings.ts';
import type { FailureKind } from './wordings.ts';

/** Symbols, times and labels that programs print before an error message. */
const LABELS =
  /^(?:\s+|[■✕✗✘✖×⚠❌]\ufe0f?|\[?\d{4}-[\d:T.Z+ -]{6,36}\]?(?=\s)|\[?api error:|[\w:.]*error(?: [\w:.]+)?:|sorry,)+/i;
/** A line that reports some other error. */
const OTHER_ERROR = /^\[?(?:[\d:T.Z+-]{10,36}\]?\s+)?(?:\w+ )?\w*error\b[^:]*:/i;
/** The error of gemini, which prints a path before it and a long stack trace after it. */
const GEMINI_ERROR = /\bTerminalQuotaError: (.+)/;

/** How many lines can follow the limit: a summary of the tokens, or the start of a stack trace. */
const READ_LINES = 10;
const READ_CHARS = 600;

/** A failure that a command has reported in words. */
interface CommandFailure {
  readonly means: FailureKind;
  /** The line that names it, and what follows, which may tell the reset of a limit. */
  readonly words: string;
}

/**
 * Returns the failure that the last output of a failed command reports, or null if it reports none that is
 * known. A command has no events, so this is the only place where free text decides. The words must be at
 * the start of one of the last lines of standard error, with no other error after it, or at the start of the
 * very last line of output. After a command has worked, only a plan limit counts.
 */
export function readCommandFailure({
  stderrTail,
  finalMessage,
  worked,
}: Pick<AttemptFacts, 'stderrTail' | 'finalMessage' | 'worked'>): CommandFailure | null {
  const found = lastCause(linesOf(stderrTail)) ?? lastCause(linesOf(finalMessage ?? '').slice(-1));
  if (found === null || found === OTHER) return null;
  const { means, words } = found;
  if (worked && means !== 'usage-limited') return null;
  return { means, words: words.slice(0, READ_CHARS) };
}

const OTHER = 'another error';

/** Returns the last cause with all that follows, `OTHER` for another error, or null for neither. */
function lastCause(lines: readonly string[]): CommandFailure | typeof OTHER | null {
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const line = lines[index] ?? '';
    const behind = lines.slice(index + 1);
    const ofGemini = GEMINI_ERROR.exec(line)?.[1];
    const plain = ofGemini ?? line.replace(LABELS, '');
    const isNear = ofGemini !== undefined || behind.length < READ_LINES;
    const told = isNear ? sharedFailureAtStart(plain) : null;
    if (told !== null) return { means: told.means, words: [plain, ...behind].join('\n') };
    if (ofGemini === undefined && OTHER_ERROR.test(line)) return OTHER;
  }
  return null;
}

function linesOf(text: string): readonly string[] {
  return withoutControls(text)
    .split('\n')
    .filter((line) => line.trim() !== '');
}
