import { oneLine, withoutControls } from '../text/untrusted-text.ts';
import type { Agent, HostMachine } from './agent.ts';
import type { AttemptFacts, CutCause, ResultFacts } from './attempt.ts';
import { errored, fatal, type Outcome, tooLong, transient } from './outcome.ts';
import { readResetTime } from './reset-time.ts';
import { OF_A_TOOL, passingFailure, sharedFailure } from './shared-wordings.ts';
import { readUsageLimit } from './usage-limit.ts';
import { failureIn, type ToldFailure } from './wordings.ts';

/**
 * Returns how an attempt of an agent ended, derived from the facts of the attempt.
 *
 * The order matters: first the cause for which ralph ended the agent, then the structured report, then exit code
 * and standard error. Free text counts only in a report that says it is an error, since an agent's task may be
 * about rate limits or logins. The exception is an agent that failed without a report and before a session
 * began: then its last output is all there is. Each agent has its own wordings, but a kind of failure has the same
 * outcome for all agents.
 *
 * `at` is when the attempt ended. A reset time without a zone is in the time zone of `machine`. `prompt` is what
 * the user asked for.
 */
export function classify(
  facts: AttemptFacts,
  agent: Agent,
  at: string,
  machine: HostMachine,
  prompt = '',
): Outcome {
  const attempt: Attempt = { facts, agent, at, machine, prompt };
  switch (facts.end.kind) {
    case 'cut':
      return classifyCut(facts.end.cause, facts);
    case 'not-started':
      return facts.end.code === 'ENOENT'
        ? fatal('agent-not-found', facts.end.message)
        : errored(`the agent could not be started: ${facts.end.message}`);
    case 'exited':
    case 'signalled':
      if (facts.hook?.did === 'blocked' && !facts.worked) return fatal('hook', facts.hook.said);
      return facts.result === null
        ? classifyWithoutResult(attempt)
        : (readReport(facts.result, attempt) ?? classifyAnswer(facts));
  }
}

interface Attempt {
  readonly facts: AttemptFacts;
  readonly agent: Agent;
  readonly at: string;
  readonly machine: HostMachine;
  readonly prompt: string;
}

function classifyCut(cause: CutCause, facts: AttemptFacts): Outcome {
  switch (cause) {
    case 'stop-requested':
      return { kind: 'stopped' };
    case 'task-timeout':
      return { kind: 'timed-out', limit: 'task' };
    case 'hopeless-retries':
      return fatal('not-logged-in', describeRetries(facts));
    case 'endless-retries':
      return transient(facts, describeRetries(facts));
    case 'supervisor':
      return facts.cutBy === undefined
        ? errored('ralph ended it, and did not note why')
        : { kind: 'cut', by: facts.cutBy };
    case 'iteration-timeout':
    case 'idle-timeout':
      // A timeout during the agent's own retries is an outage, not a slow agent.
      if (facts.endedInRetry) return transient(facts, describeRetries(facts));
      return { kind: 'timed-out', limit: cause === 'idle-timeout' ? 'idle' : 'iteration' };
  }
}

function classifyAnswer({ end }: AttemptFacts): Outcome {
  if (end.kind === 'signalled') {
    return errored(`the agent was ended by ${end.signal} after its answer`);
  }
  if (end.kind === 'exited' && end.exitCode !== 0) {
    return errored(`the agent answered and then exited with code ${end.exitCode}`);
  }
  return { kind: 'answered' };
}

/** Returns the failure in the agent's closing report, or null if it answered. */
function readReport(report: ResultFacts, attempt: Attempt): Outcome | null {
  if (report.subtype === 'error_max_turns') return { kind: 'bounded', by: 'max-turns' };
  if (report.subtype === 'error_max_budget_usd') return { kind: 'bounded', by: 'max-budget' };
  return report.isError || report.isRefusal || report.subtype !== 'success'
    ? readErrorReport(report, attempt)
    : (attempt.agent.readAnswer?.(report, attempt.facts, attempt.prompt) ?? null);
}

/** How many characters of a report are read, which is more than any report has. People are shown only `SHOWN_CHARS`. */
const READ_CHARS = 2_000;
const SHOWN_CHARS = 300;

function readErrorReport(report: ResultFacts, attempt: Attempt): Outcome {
  const { facts, agent, at, machine } = attempt;
  const words = oneLine(report.text ?? report.errors.join('; '), READ_CHARS);
  const text = shown(words);
  const status = report.apiErrorStatus ?? statusIn(words, facts.worked);
  if (report.isRefusal) return fatal('refused-request', text);
  const told = failureIn(words, agent.wordings, facts.worked);
  if (told?.means === 'session-gone') return { kind: 'session-gone', message: text };
  const limit = readUsageLimit(words, status, facts.rateLimit, at, machine.timeZone);
  if (limit !== null) return { kind: 'usage-limited', resetsAt: limit.resetsAt, message: text };
  // Known words decide before the status, since services send them with any status.
  const byCode = agent.errorCodes?.[report.errorCode ?? ''];
  const isNewLimit = told === null && namesLongLimit(words, attempt);
  const known = sharedFailure(words)?.means ?? (isNewLimit ? 'usage-limited' : byCode);
  if (known !== undefined) return outcomeOf({ means: known, words }, attempt, words);
  if (status === 401 || status === 403) return fatal('not-logged-in', text);
  if (told?.means === 'no-credit' || status === 402) return fatal('no-credit', text);
  // Some services answer a bad key with 400.
  if (told?.means === 'not-logged-in' && (status === null || status < 429)) {
    return fatal('not-logged-in', text);
  }
  const isTooLong = told?.means === 'too-long' || report.terminalReason === 'prompt_too_long';
  if (isTooLong) return tooLong(text);
  if (status === 400 || status === 404 || status === 413) return fatal('refused-request', text);
  if (status === 429 || (status !== null && status >= 500)) return transient(facts, text, status);
  if (told !== null && told.means !== 'usage-limited') return outcomeOf(told, attempt, words);
  if (facts.endedInRetry || report.terminalReason === 'retryable') return transient(facts, text);
  if (status === null && facts.retries.length > 0 && /^api error/i.test(text)) {
    return transient(facts, text);
  }
  return (
    exitCodeFailure(attempt, words) ??
    passingOutcome(attempt, words) ??
    errored(text === '' ? `the agent reported ${report.subtype}` : text)
  );
}

/** Limits per minute, which services send with the time of their reset, too, are over sooner. */
const SHORT_LIMIT_MS = 60_000;

/** Whether the report names the reset of a limit that takes longer, which only a plan limit does. */
function namesLongLimit(words: string, { facts, at, machine }: Attempt): boolean {
  const resetsAt = facts.worked ? null : readResetTime(words, at, machine.timeZone);
  const isLong = resetsAt !== null && Date.parse(resetsAt) > Date.parse(at) + SHORT_LIMIT_MS;
  return isLong && passingFailure(words, true) === 'usage-limited';
}

/** Matches the HTTP status in a report of an agent or a service, such as `API Error: 401 …` or `"code": 429`. */
const SERVICE_STATUS =
  /(?:(?:^|[.:;·[(][ \t]*)c?api ?error|\bunexpected status|\blast status|"code")["\s:(]*(?:repeated )?([45]\d\d)\b/im;
/** Any HTTP status. It counts only before the model has worked: then it can only come from the service. */
const ANY_STATUS = /\b(?:status(?: code)?|http(?:\/[\d.]+)?)["\s:(]*([45]\d\d)\b/i;

function statusIn(words: string, worked: boolean): number | null {
  const [, found] = SERVICE_STATUS.exec(words) ?? (worked ? null : ANY_STATUS.exec(words)) ?? [];
  return found === undefined || OF_A_TOOL.test(words) ? null : Number(found);
}

/** Returns the outcome that a failure leads to. `text` may name the reset of a limit in a later line. */
function outcomeOf(told: ToldFailure, { facts, at, machine }: Attempt, text: string): Outcome {
  const message = shown(told.words);
  switch (told.means) {
    case 'session-gone':
      return { kind: 'session-gone', message };
    case 'usage-limited':
      return {
        kind: 'usage-limited',
        resetsAt: readResetTime(text, at, machine.timeZone),
        message,
      };
    case 'too-long':
      return tooLong(message);
    case 'transient':
      return transient(facts, message);
    case 'unknown':
      return errored(message);
    case 'max-turns':
      return { kind: 'bounded', by: 'max-turns' };
    default:
      return fatal(told.means, message);
  }
}

function exitCodeFailure(attempt: Attempt, words: string): Outcome | null {
  const { end } = attempt.facts;
  const means = end.kind === 'exited' ? attempt.agent.exitCodes[end.exitCode] : undefined;
  return means === undefined ? null : outcomeOf({ means, words }, attempt, words);
}

/** Returns the outcome of a failure that passes by itself; null if the agent has worked, or its words say no such thing. */
function passingOutcome(attempt: Attempt, words: string): Outcome | null {
  const { facts, at, machine } = attempt;
  if (facts.worked) return null;
  const means = passingFailure(words, readResetTime(words, at, machine.timeZone) !== null);
  return means === null ? null : outcomeOf({ means, words }, attempt, words);
}

function classifyWithoutResult(attempt: Attempt): Outcome {
  const { facts, agent } = attempt;
  if (facts.endedInRetry) return transient(facts, describeRetries(facts));
  if (facts.end.kind === 'signalled') {
    const words = lastWordsOf(withoutControls(facts.stderrTail), { isError: true });
    return errored(
      `the agent was ended by ${facts.end.signal}, which ralph did not send${saying(words)}`,
    );
  }
  const exitCode = facts.end.kind === 'exited' ? facts.end.exitCode : null;
  if (exitCode === 0) {
    return agent.requiresReport ? errored(ENDED_WITHOUT_RESULT) : { kind: 'answered' };
  }
  const stderr = withoutControls(facts.stderrTail);
  const lastWords = lastWordsOf(stderr);
  // Standard error is read only before a session exists: later, it may come from any program that the agent ran.
  const isBeforeSession = facts.sessionId === null;
  const isTold = isBeforeSession && agent.readLastWords === undefined;
  const told = isTold ? toldBefore(stderr, agent) : null;
  const byExitCode = exitCodeFailure(attempt, told?.words ?? lastWords);
  if (byExitCode !== null) return byExitCode;
  if (isBeforeSession) {
    const named = agent.readLastWords?.(facts) ?? null;
    if (named !== null) {
      const [words = ''] = named.words.split('\n');
      return outcomeOf({ ...named, words }, attempt, oneLine(named.words, READ_CHARS));
    }
    if (told !== null) return outcomeOf(told, attempt, stderr);
    const passing = isTold ? passingOutcome(attempt, lastErrorOf(stderr).join('\n')) : null;
    if (passing !== null) return passing;
  }
  return errored(`the agent exited with code ${exitCode ?? 'unknown'}${saying(lastWords)}`);
}

const ENDED_WITHOUT_RESULT = 'the agent exited with code 0 but gave no result';

function describeRetries(facts: AttemptFacts): string {
  const last = facts.retries.at(-1);
  if (last === undefined) return 'the agent kept retrying';
  const status = last.status === null ? last.error : `${last.status} ${last.error}`;
  return shown(`the agent's own retries ended with ${status}`);
}

/** Failures that only the agent itself reports, so they count anywhere in standard error. */
const OWN_MATTERS: ReadonlySet<string> = new Set(['session-gone', 'bad-option', 'root-refused']);

/** Returns the failure that standard error names if the agent failed before a session began, or null. */
function toldBefore(stderr: string, { wordings }: Agent): ToldFailure | null {
  const own = failureIn(stderr, wordings, false);
  if (own !== null && OWN_MATTERS.has(own.means)) return own;
  // MCP servers and npm write to standard error, too. The last error there is what ended the agent.
  return sharedFailure(lastErrorOf(stderr).join('\n')) ?? own;
}

function saying(words: string): string {
  return words === '' ? '' : `: ${words}`;
}

/** How many lines of a failed agent's output are shown. The last line alone is often only a hint at `--help`. */
const LAST_LINES = 5;
/** How many of the last lines are searched for an error, since a program can print a long stack trace after it. */
const SEARCHED_LINES = 80;
const ERROR_LINE =
  /^Error\b|\b\w*[Ee]rror(?:\[\w+\])?:|\b(?:ERROR|FATAL)\b|\b[Ff]atal:|\bpanic(?:ked)?\b/;

/** Returns up to five lines from the last one that names an error, or the last lines if none does. */
function lastErrorOf(text: string): readonly string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const searched = lines.slice(-SEARCHED_LINES);
  const error = searched.findLastIndex((line) => ERROR_LINE.test(line));
  return error === -1 ? lines.slice(-LAST_LINES) : searched.slice(error, error + LAST_LINES);
}

/**
 * Returns the last output of a failed program, from the last line that names an error. If no line names one,
 * returns the end of the text, or nothing if `isError` is set.
 */
function lastWordsOf(text: string, { isError = false } = {}): string {
  const lines = lastErrorOf(text);
  const words = oneLine(lines.join(' | '), READ_CHARS);
  if (ERROR_LINE.test(lines[0] ?? '')) return shown(words);
  if (isError) return '';
  return words.length > SHOWN_CHARS ? `…${words.slice(1 - SHOWN_CHARS)}` : words;
}

function shown(text: string): string {
  return oneLine(text, SHOWN_CHARS);
}
