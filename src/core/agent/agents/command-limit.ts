import { oneLine, withoutControls } from '../../text/untrusted-text.ts';
import type { AttemptFacts } from '../attempt.ts';
import { readResetTime } from '../reset-time.ts';

/** Words allowed between `your` and `limit`. The limit of a context window or a disk is not a plan limit. */
const KIND =
  '(?:(?:usage|rate|global|hourly|daily|weekly|monthly|session|plan|account|model|request|requests|premium|free|credit|message|api|quota|opus|sonnet|[a-z]*\\d[\\w.-]*|[a-z]+-\\d[\\w.-]*) ){0,4}';

/**
 * The wordings with which codex, gemini, opencode, qwen, copilot and `claude` report a plan limit in
 * plain text. The sentence must end there or continue with `for`, `on` or the like: `usage limit reached
 * page` is something else.
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

/** A plan limit that a command has reported in words. */
interface CommandLimit {
  /** ISO instant; null if none was given. */
  readonly resetsAt: string | null;
  readonly message: string;
}

/**
 * Returns the plan limit that the last output of a failed command reports, or null if it reports none. A
 * command has no events, so this is the only place where free text decides. The limit must be at the start of one of
 * the last lines of standard error, with no other error after it, or at the start of the very last line of
 * output. `at` is when the command ended; `localZone` applies to a time without a zone.
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

/** Returns the last cause: a limit with all that follows, `OTHER` for another error, or null for neither. */
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
