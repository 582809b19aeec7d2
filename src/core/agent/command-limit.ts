import { oneLine, withoutControls } from '../text/untrusted-text.ts';
import type { AttemptFacts } from './attempt.ts';
import { readResetTime } from './reset-time.ts';

/** What may stand between `your` and `limit`: a limit of a context window or a disk is no plan's. */
const KIND =
  '(?:(?:usage|rate|global|hourly|daily|weekly|monthly|session|plan|account|model|request|requests|premium|free|credit|message|api|quota|opus|sonnet|[a-z]*\\d[\\w.-]*|[a-z]+-\\d[\\w.-]*) ){0,4}';

/**
 * The wordings in which codex, gemini, opencode, qwen, copilot and `claude` report a plan limit where
 * they print text. A sentence has to end behind them, or say of what: `usage limit reached page` is
 * something else.
 */
const LIMIT = new RegExp(
  `^(?:${[
    `you(?:['’]ve| have) (?:hit|reached|exceeded) (?:your|a|the) ${KIND}(?:limit|quota)`,
    `you(?:['’]ve| have) exhausted your ${KIND}(?:quota|capacity)`,
    '(?:the |claude |claude ai )?(?:usage|weekly|session|opus|sonnet|5[- ]hour) limit (?:has been )?reached',
    "you['’]re out of (?:extra )?usage",
    'free usage exceeded',
    '(?:429 )?(?:qwen oauth|free allocated) quota exceeded',
  ].join('|')})(?=\\s*(?:$|[.,:;|·∙•!\\]-])|\\s+(?:for|on|that restricts)\\b)`,
  'i',
);

/** A mark, a time or a label that a program puts before what went wrong. */
const LABELS =
  /^(?:\s+|[■✕✗✘✖×⚠❌]\ufe0f?|\[?\d{4}-[\d:T.Z+ -]{6,36}\]?(?=\s)|\[?api error:|[\w:.]*error(?: [\w:.]+)?:|sorry,)+/i;
/** Says that something else went wrong. */
const OTHER_ERROR = /^\[?(?:[\d:T.Z+-]{10,36}\]?\s+)?(?:\w+ )?\w*error\b[^:]*:/i;
/** gemini prints its error as an object, with a path before it and a long stack behind it. */
const GEMINI_ERROR = /\bTerminalQuotaError: (.+)/;

/** Behind the limit stand a summary of the tokens, or a few lines of a stack. */
const READ_LINES = 10;
const READ_CHARS = 600;

/** A plan limit that a command has reported in words. */
interface CommandLimit {
  /** ISO instant; null where none was said. */
  readonly resetsAt: string | null;
  readonly message: string;
}

/**
 * Reads from the last words of a command that failed whether a plan limit was the cause. A command has
 * no events, so this is the one place where free text decides: at the beginning of one of the last lines
 * of standard error, if no other error is reported behind it, or of the very last line of its output.
 * `at` is when it ended; `localZone` is where a time without a zone is meant.
 */
export function readCommandLimit(
  { stderrTail, finalMessage }: Pick<AttemptFacts, 'stderrTail' | 'finalMessage'>,
  at: string,
  localZone: string,
): CommandLimit | null {
  const words = lastCause(linesOf(stderrTail)) ?? lastCause(linesOf(finalMessage ?? '').slice(-1));
  if (words === null || words === OTHER) return null;
  const resetsAt = readResetTime(oneLine(words, READ_CHARS), at, localZone);
  return { resetsAt, message: oneLine(words.split('\n')[0] ?? '', 300) };
}

const OTHER = '';

/** A limit with all that stands behind it, or `OTHER`, whichever is reported last; null if neither is. */
function lastCause(lines: readonly string[]): string | null {
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const line = lines[index] ?? '';
    const behind = lines.slice(index + 1);
    const plain = line.replace(LABELS, '');
    const isNear = behind.length < READ_LINES;
    const words = GEMINI_ERROR.exec(line)?.[1] ?? (isNear && LIMIT.test(plain) ? plain : null);
    if (words !== null) return [words, ...behind].join('\n');
    if (OTHER_ERROR.test(line)) return OTHER;
  }
  return null;
}

function linesOf(text: string): readonly string[] {
  return withoutControls(text)
    .split('\n')
    .filter((line) => line.trim() !== '');
}
