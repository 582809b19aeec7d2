import { oneLine } from '../text/untrusted-text.ts';
import type { Agent, HostMachine } from './agent.ts';
import type { AttemptFacts, CutCause } from './attempt.ts';
import { errored, fatal, type Outcome, transient } from './outcome.ts';

/**
 * Returns how an attempt of an agent ended, derived from the facts of the attempt.
 *
 * The order matters: first ralph's own cause, then the structured report, then exit code and standard
 * error. Free text counts only in a report that says it is an error, since an agent's task may be about
 * rate limits or logins. The exception is an agent that failed without a report: then only its last words
 * remain, and `agent.readLastWords` reads them.
 *
 * `at` is when the attempt ended. A reset time without a zone is in the time zone of `machine`.
 */
export function classify(
  facts: AttemptFacts,
  agent: Agent,
  at: string,
  machine: HostMachine,
): Outcome {
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
        ? classifyWithoutResult(facts, agent, at, machine)
        : (agent.readReport(facts.result, facts, at, machine) ?? classifyAnswer(facts));
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

function classifyAnswer({ end }: AttemptFacts): Outcome {
  if (end.kind === 'signalled') {
    return errored(`the agent was ended by ${end.signal} after its answer`);
  }
  if (end.kind === 'exited' && end.exitCode !== 0) {
    return errored(`the agent answered and then exited with code ${end.exitCode}`);
  }
  return { kind: 'answered' };
}

function classifyWithoutResult(
  facts: AttemptFacts,
  agent: Agent,
  at: string,
  machine: HostMachine,
): Outcome {
  if (facts.endedInRetry) return transient(facts, describeRetries(facts));
  if (facts.end.kind === 'signalled') {
    return errored(`the agent was ended by ${facts.end.signal}, which ralph did not send`);
  }
  const exitCode = facts.end.kind === 'exited' ? facts.end.exitCode : null;
  if (exitCode === 0) {
    return agent.requiresReport
      ? errored('the agent exited with code 0 but gave no result')
      : { kind: 'answered' };
  }
  const lastWords = lastLine(facts.stderrTail);
  // Only before a session exists: later, the text may come from any program that the agent ran.
  if (facts.sessionId === null) {
    const told = agent.readLastWords(facts, at, machine);
    if (told !== null) return told;
    // Shells and env use these exit codes if they do not find a program, here in a wrapper script.
    if (agent.requiresReport && (exitCode === 127 || exitCode === 126)) {
      return fatal('agent-not-found', lastWords);
    }
  }
  return errored(
    `the agent exited with code ${exitCode ?? 'unknown'}${lastWords === '' ? '' : `: ${lastWords}`}`,
  );
}

function describeRetries(facts: AttemptFacts): string {
  const last = facts.retries.at(-1);
  if (last === undefined) return 'the agent kept retrying';
  const status = last.status === null ? last.error : `${last.status} ${last.error}`;
  return oneLine(`the agent's own retries ended with ${status}`, 300);
}

function lastLine(text: string): string {
  return oneLine(text.trimEnd().split('\n').at(-1) ?? '', 300);
}
