import { oneLine } from '../../text/untrusted-text.ts';
import type { Agent, HostMachine } from '../agent.ts';
import type { AttemptFacts, ResultFacts } from '../attempt.ts';
import { errored, type FatalCause, fatal, type Outcome, transient } from '../outcome.ts';
import { readUsageLimit } from './claude-limit.ts';

/** Claude Code. */
export const claude: Agent = {
  help: 'claude',
  takes: [
    'claudeBin',
    'model',
    'permissionMode',
    'allowedTools',
    'dangerouslySkipPermissions',
    'maxCost',
    'maxUsage',
    'session',
    'acceptRefused',
    'askBack',
  ],
  ownFlags: ['--output-format', '--input-format'],
  budgetFlag: '--max-budget-usd',
  expandsAtPaths: true,
  reportsTools: true,
  requiresReport: true,
  nestingVariables: ['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT', 'CLAUDE_CODE_SSE_PORT'],
  versionVariables: { DISABLE_AUTOUPDATER: '1' },
  permissionsNotice:
    'claude runs with its default permissions: it may read files, but asks before it edits files or runs commands, and without anyone to answer these are refused. Use --permission-mode acceptEdits, --allowed-tools or --dangerously-skip-permissions to allow them.',
  installRemedy:
    'install Claude Code (npm install -g @anthropic-ai/claude-code), or name the program with --claude-bin PATH',
  remedies: {
    'agent-not-found':
      'install it (npm install -g @anthropic-ai/claude-code), or name it with --claude-bin',
    'not-logged-in':
      'log in with claude /login, or make a token for cron with claude setup-token and set CLAUDE_CODE_OAUTH_TOKEN, or set a valid ANTHROPIC_API_KEY',
    'slash-command':
      'claude took the prompt for a slash command; put a word or an empty line before the slash',
    'bad-option': 'remove the option, or update claude (claude update)',
    'root-refused':
      'claude skips permissions for root only in a sandbox: run as another user, or set IS_SANDBOX=1 if this is one',
  },

  readReport(report, facts, at, machine) {
    if (report.subtype === 'error_max_turns') return { kind: 'bounded', by: 'max-turns' };
    if (report.subtype === 'error_max_budget_usd') return { kind: 'bounded', by: 'max-budget' };
    if (report.isError || report.subtype !== 'success') {
      return readErrorReport(report, facts, at, machine);
    }
    return report.numTurns === 0 && facts.usage.cost_usd === 0 && facts.turns === 0
      ? fatal('slash-command', oneLine(report.text ?? '', 300))
      : null;
  },

  isTooLong: ({ terminalReason, text }) =>
    terminalReason === 'prompt_too_long' || PROMPT_TOO_LONG.test(text ?? ''),

  readLastWords({ stderrTail }) {
    const gone = SESSION_GONE.exec(stderrTail);
    if (gone !== null) return { kind: 'session-gone', message: oneLine(gone[0], 300) };
    for (const { pattern, cause } of FATAL_STDERR) {
      const match = pattern.exec(stderrTail);
      if (match !== null) return fatal(cause, oneLine(match[0], 300));
    }
    return null;
  },
};

const SESSION_GONE = /^no conversation found with session id.*$/im;
const PROMPT_TOO_LONG = /^prompt is too long/i;
const NETWORK_ERROR =
  /^api error\b.*\b(connection error|econnrefused|econnreset|enotfound|etimedout|eai_again|fetch failed|socket hang up|socket connection was closed|connection closed|request timed out|unable to connect)/i;

/** What claude writes to standard error if it cannot begin a session, and the cause. */
const FATAL_STDERR: readonly { readonly pattern: RegExp; readonly cause: FatalCause }[] = [
  { pattern: /^error: unknown option .*$/m, cause: 'bad-option' },
  { pattern: /^error: (option|argument) .*$/im, cause: 'bad-option' },
  { pattern: /^.*cannot be used with root\/sudo privileges.*$/m, cause: 'root-refused' },
  { pattern: /^(not logged in|please run \/login|invalid api key).*$/im, cause: 'not-logged-in' },
];

function readErrorReport(
  report: ResultFacts,
  facts: AttemptFacts,
  at: string,
  machine: HostMachine,
): Outcome {
  const text = oneLine(report.text ?? report.errors.join('; '), 300);
  const status = report.apiErrorStatus;
  if (SESSION_GONE.test(text)) return { kind: 'session-gone', message: text };
  const limit = readUsageLimit(text, status, facts.rateLimit, at, machine.timeZone);
  if (limit !== null) return { kind: 'usage-limited', resetsAt: limit.resetsAt, message: text };
  if (status === 401 || status === 403) return fatal('not-logged-in', text);
  if (/^credit balance is too low/i.test(text)) return fatal('no-credit', text);
  if (status === 400 || status === 404 || status === 413) return fatal('refused-request', text);
  if (status === 429 || (status !== null && status >= 500)) return transient(facts, text, status);
  // Without a status, only the first words of an error report can tell the cause.
  if (/^(not logged in|please run \/login|invalid api key)/i.test(text)) {
    return fatal('not-logged-in', text);
  }
  if (PROMPT_TOO_LONG.test(text) || report.terminalReason === 'prompt_too_long') {
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
  return errored(text === '' ? `the agent reported ${report.subtype}` : text);
}
