import { oneLine } from '../text/untrusted-text.ts';
import type { AttemptFacts, CutCause, ResultFacts } from './attempt.ts';
import { readCommandLimit } from './command-limit.ts';
import type { FatalCause, Outcome } from './outcome.ts';
import { readUsageLimit } from './usage-limit.ts';

/** Read `timeZone` only when needed: it is a getter, and finding the zone takes a while. */
interface Machine {
  readonly timeZone: string;
}

/**
 * Determines how an attempt ended from what it showed.
 *
 * The order matters: first ralph's own cause, then the structured report, then exit code and standard
 * error. Free text counts only in a report that says it is an error, since an agent's task may be about
 * rate limits or logins. The exception is a failed command that reports a plan limit in words, since it
 * has no other way.
 *
 * `at` is when the attempt ended. A plan limit without a zone gives its reset in the machine's time zone.
 */
export function classify(facts: AttemptFacts, at: string, machine: Machine): Outcome {
  switch (facts.end.kind) {
    case 'cut':
      return classifyCut(facts.end.cause, facts);
    case 'not-started':
      return facts.end.code === 'ENOENT' || facts.end.code === 'EACCES'
        ? fatal('agent-not-found', facts.end.message)
        : errored(`the agent could not be started: ${facts.end.message}`);
    case 'exited':
    case 'signalled':
      return facts.result === null
        ? classifyWithoutResult(facts, at, machine)
        : classifyResult(facts.result, facts, at, machine);
  }
}

function classifyCut(cause: CutCause, facts: AttemptFacts): Outcome {
  switch (cause) {
    case 'stop-requested':
      return { kind: 'stopped' };
    case 'task-timeout':
      return { kind: 'timed-out', limit: 'task' };
    case 'hopeless-retries':
      return fatal('not-logged-in', describeRetries(facts));
    case 'iteration-timeout':
    case 'idle-timeout':
      // A timeout during the agent's own retries is an outage, not a slow agent.
      if (facts.endedInRetry) return transient(facts, describeRetries(facts));
      return { kind: 'timed-out', limit: cause === 'idle-timeout' ? 'idle' : 'iteration' };
  }
}

function classifyResult(
  result: ResultFacts,
  facts: AttemptFacts,
  at: string,
  machine: Machine,
): Outcome {
  if (result.subtype === 'error_max_turns') return { kind: 'bounded', by: 'max-turns' };
  if (result.subtype === 'error_max_budget_usd') return { kind: 'bounded', by: 'max-budget' };
  if (result.isError || result.subtype !== 'success')
    return classifyErrorResult(result, facts, at, machine);
  if (result.numTurns === 0 && facts.usage.cost_usd === 0 && facts.turns === 0) {
    return fatal('slash-command', oneLine(result.text ?? '', 300));
  }
  if (facts.end.kind === 'signalled') {
    return errored(`the agent was ended by ${facts.end.signal} after its answer`);
  }
  if (facts.end.kind === 'exited' && facts.end.exitCode !== 0) {
    return errored(`the agent answered and then exited with code ${facts.end.exitCode}`);
  }
  return { kind: 'answered' };
}

function classifyErrorResult(
  result: ResultFacts,
  facts: AttemptFacts,
  at: string,
  machine: Machine,
): Outcome {
  const text = oneLine(result.text ?? result.errors.join('; '), 300);
  const status = result.apiErrorStatus;
  if (SESSION_GONE.test(text)) return { kind: 'session-gone', message: text };
  const limit = readUsageLimit(text, status, facts.rateLimit, at, machine.timeZone);
  if (limit !== null) return { kind: 'usage-limited', resetsAt: limit.resetsAt, message: text };
  if (status === 401 || status === 403) return fatal('not-logged-in', text);
  if (/^credit balance is too low/i.test(text)) return fatal('no-credit', text);
  if (status === 400 || status === 404 || status === 413) return fatal('refused-request', text);
  if (status === 429 || (status !== null && status >= 500)) return transient(facts, text, status);
  // There is no status from here on, so only the first words of an error report can tell.
  if (/^(not logged in|please run \/login|invalid api key)/i.test(text)) {
    return fatal('not-logged-in', text);
  }
  if (/^prompt is too long/i.test(text) || result.terminalReason === 'prompt_too_long') {
    return fatal('refused-request', text);
  }
  if (/^api error: (repeated )?5\d\d\b/i.test(text) || NETWORK_ERROR.test(text)) {
    return transient(facts, text);
  }
  if (
    facts.endedInRetry ||
    (status === null && facts.retries.length > 0 && /^api error/i.test(text))
  ) {
    return transient(facts, text);
  }
  return errored(text === '' ? `the agent reported ${result.subtype}` : text);
}

const SESSION_GONE = /^no conversation found with session id.*$/im;

const NETWORK_ERROR =
  /^api error\b.*\b(connection error|econnrefused|econnreset|enotfound|etimedout|eai_again|fetch failed|socket hang up|socket connection was closed|connection closed|request timed out|unable to connect)/i;

function classifyWithoutResult(facts: AttemptFacts, at: string, machine: Machine): Outcome {
  if (facts.owesResult && facts.endedInRetry) return transient(facts, describeRetries(facts));
  if (facts.end.kind === 'signalled') {
    return errored(`the agent was ended by ${facts.end.signal}, which ralph did not send`);
  }
  const exitCode = facts.end.kind === 'exited' ? facts.end.exitCode : null;
  if (exitCode === 0) {
    return facts.owesResult
      ? errored('the agent exited with code 0 but gave no result')
      : { kind: 'answered' };
  }
  // Only before a session exists: later, the text may come from any program that the agent ran.
  if (facts.owesResult && facts.sessionId === null) {
    const gone = SESSION_GONE.exec(facts.stderrTail);
    if (gone !== null) return { kind: 'session-gone', message: oneLine(gone[0], 300) };
    const fatalCause = readFatalStderr(facts.stderrTail);
    if (fatalCause !== null) return fatalCause;
    // A wrapper script did not find the program: shells and env use these exit codes for that.
    if (exitCode === 127 || exitCode === 126) {
      return fatal('agent-not-found', lastLine(facts.stderrTail));
    }
  }
  if (!facts.owesResult) {
    const limit = readCommandLimit(facts, at, machine.timeZone);
    if (limit !== null) return { kind: 'usage-limited', ...limit };
  }
  const lastWords = lastLine(facts.stderrTail);
  return errored(
    `the agent exited with code ${exitCode ?? 'unknown'}${lastWords === '' ? '' : `: ${lastWords}`}`,
  );
}

/** Refusals that `claude` writes to standard error before it has a session. */
const FATAL_STDERR: readonly { readonly pattern: RegExp; readonly cause: FatalCause }[] = [
  { pattern: /^error: unknown option .*$/m, cause: 'bad-option' },
  { pattern: /^error: (option|argument) .*$/im, cause: 'bad-option' },
  { pattern: /^.*cannot be used with root\/sudo privileges.*$/m, cause: 'root-refused' },
  { pattern: /^(not logged in|please run \/login|invalid api key).*$/im, cause: 'not-logged-in' },
];

function readFatalStderr(stderr: string): Outcome | null {
  for (const { pattern, cause } of FATAL_STDERR) {
    const match = pattern.exec(stderr);
    if (match !== null) return fatal(cause, oneLine(match[0], 300));
  }
  return null;
}

function describeRetries(facts: AttemptFacts): string {
  const last = facts.retries.at(-1);
  if (last === undefined) return 'the agent kept retrying';
  const status = last.status === null ? last.error : `${last.status} ${last.error}`;
  return oneLine(`the agent's own retries ended with ${status}`, 300);
}

function fatal(cause: FatalCause, message: string): Outcome {
  return { kind: 'fatal', cause, message };
}

function errored(message: string): Outcome {
  return { kind: 'errored', message };
}

function transient(facts: AttemptFacts, message: string, status?: number): Outcome {
  return {
    kind: 'transient',
    status: status ?? facts.retries.at(-1)?.status ?? null,
    message: message === '' ? 'the agent reported a passing fault' : message,
  };
}

function lastLine(text: string): string {
  return oneLine(text.trimEnd().split('\n').at(-1) ?? '', 300);
}
