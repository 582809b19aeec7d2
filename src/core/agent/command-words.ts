import { withoutControls } from '../text/untrusted-text.ts';
import type { AttemptFacts } from './attempt.ts';
import { sharedFailureAtStart } from './shared-wordings.ts';
import type { FailureKind } from './wordings.ts';

/** Matches symbols, times and labels that programs print before an error message. */
const LABELS =
  /^(?:\s+|[■✕✗✘✖×⚠❌]\ufe0f?|\[?\d{4}-[\d:T.Z+ -]{6,36}\]?(?=\s)|\[?api error:|[\w:.]*error(?: [\w:.]+)?:|sorry,)+/i;
const OTHER_ERROR = /^\[?(?:[\d:T.Z+-]{10,36}\]?\s+)?(?:\w+ )?\w*error\b[^:]*:/i;
/** Matches gemini's error. gemini prints a path before it and a long stack trace after it. */
const GEMINI_ERROR = /\bTerminalQuotaError: (.+)/;

/** How many lines may follow the error: a summary of the tokens, or the start of a stack trace. */
const READ_LINES = 10;
const READ_CHARS = 600;

/** A failure that a plain command, run as the agent, has reported in words. */
interface CommandFailure {
  readonly means: FailureKind;
  /** The line that names the failure, and the lines after it, which may say when a limit resets. */
  readonly words: string;
}

/**
 * Returns the failure that the last output of a failed command reports, or null if it reports no known one. A
 * command has no events, so free text has to decide here. The known words must be at the start of one of the last
 * lines of standard error, with no other error after that line, or at the start of the last line of output. If
 * the command has already worked, only a plan limit counts.
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

/** Returns the last failure with the lines after it, `OTHER` if the last error is unknown, or null for no error. */
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
