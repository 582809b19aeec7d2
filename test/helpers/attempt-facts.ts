import {
  type AttemptFacts,
  type CutCause,
  NO_USAGE,
  type RefusedTool,
  type ResultFacts,
  type RetryFacts,
} from '../../src/core/agent/attempt.ts';

/** A `claude` that exited with code 0 and showed nothing, but for what is given. */
export function attemptFacts(changes: Partial<AttemptFacts> = {}): AttemptFacts {
  return {
    end: { kind: 'exited', exitCode: 0 },
    durationMs: 1_000,
    result: null,
    finalMessage: null,
    partialOutput: '',
    stderrTail: '',
    retries: [],
    retryWaitMs: 0,
    worked: true,
    heldUpMs: 0,
    endedInRetry: false,
    rateLimit: null,
    usage: NO_USAGE,
    sessionUsage: null,
    turns: 0,
    tools: 0,
    refused: [],
    stoppedSubAgents: 0,
    sessionId: null,
    skippedLines: 0,
    brokenLines: 0,
    leftovers: [],
    ...changes,
  };
}

/** The closing report of a run that went well, but for what is given. */
export function resultFacts(changes: Partial<ResultFacts> = {}): ResultFacts {
  return {
    subtype: 'success',
    isError: false,
    apiErrorStatus: null,
    errorCode: null,
    text: 'done',
    errors: [],
    terminalReason: 'completed',
    numTurns: 1,
    isRefusal: false,
    isBrokenOff: false,
    isLocal: false,
    ...changes,
  };
}

/** A `claude` that answered with this message. */
export function answered(message: string, changes: Partial<AttemptFacts> = {}): AttemptFacts {
  return attemptFacts({
    result: resultFacts({ text: message }),
    finalMessage: message,
    usage: { cost_usd: 0.01, input_tokens: 100, output_tokens: 10 },
    turns: 1,
    sessionId: 'session-1',
    ...changes,
  });
}

/**
 * A `claude` whose report says that it is an error; its subtype is `success` none the less. The model has not
 * worked, unless it has put out tokens.
 */
export function errorReport(
  text: string,
  status: number | null = null,
  changes: Partial<AttemptFacts> = {},
): AttemptFacts {
  return attemptFacts({
    end: { kind: 'exited', exitCode: 1 },
    result: resultFacts({ isError: true, apiErrorStatus: status, text }),
    finalMessage: text,
    turns: 1,
    worked: (changes.usage?.output_tokens ?? 0) > 0,
    sessionId: 'session-1',
    ...changes,
  });
}

/** A `claude` that ralph ended, with what it had said until then. */
export function cut(cause: CutCause, changes: Partial<AttemptFacts> = {}): AttemptFacts {
  return attemptFacts({
    end: { kind: 'cut', cause, exitCode: 1 },
    partialOutput: 'half of the work',
    turns: 1,
    ...changes,
  });
}

/** A `claude` that exited without a closing report. */
export function withoutReport(
  exitCode: number,
  stderrTail = '',
  changes: Partial<AttemptFacts> = {},
): AttemptFacts {
  return attemptFacts({ end: { kind: 'exited', exitCode }, stderrTail, ...changes });
}

/** A program that is not where it should be. */
export function notFound(code = 'ENOENT'): AttemptFacts {
  return attemptFacts({ end: { kind: 'not-started', code, message: 'there is no claude' } });
}

/** One wait in the agent's own retries. */
export function retryFacts(status: number | null, error = 'overloaded'): RetryFacts {
  return { status, error, attempt: 1, maxRetries: 10, delayMs: 500 };
}

/** A tool call that was refused; what `Bash` is given is a command line. */
export function refusedTool(tool: string, target = '', laterSucceeded = false): RefusedTool {
  const command = tool === 'Bash' && target !== '' ? target : null;
  return { tool, target, command, laterSucceeded };
}
