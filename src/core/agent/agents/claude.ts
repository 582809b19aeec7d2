import { oneLine } from '../../text/untrusted-text.ts';
import type { Agent } from '../agent.ts';
import { errored, fatal } from '../outcome.ts';
import { installedAgent } from './installed-agent.ts';

/** Claude Code. */
export const claude: Agent = installedAgent({
  name: 'claude',
  title: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  further: ['allowedTools', 'maxCost', 'maxCostPerDay', 'maxUsage'],
  ownFlags: ['--output-format', '--input-format'],
  budgetFlag: '--max-budget-usd',
  expandsAtPaths: true,
  tells: ['calls', 'refusals', 'tokens', 'sub-agents'],
  nestingVariables: ['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT', 'CLAUDE_CODE_SSE_PORT'],
  versionVariables: { DISABLE_AUTOUPDATER: '1' },
  permissionsNotice:
    'claude runs with its default permissions: it may read files, but asks before it edits files or runs commands, and without anyone to answer these are refused. Use --edit, --allowed-tools or --dangerously-skip-permissions to allow them.',
  commandRule: (words) => `Bash(${words.join(' ')}${words.length > 1 ? ':*' : ''})`,
  promptLimit: { most: 10_000_000, unit: 'bytes' },
  judging: {
    instructedBy: ['CLAUDE.md', 'CLAUDE.local.md', '.claude', '.mcp.json'],
    args: [
      ...['--tools', 'Read,Grep,Glob', '--permission-mode', 'dontAsk'],
      // The judged agent could have written the hooks, MCP servers and instructions in the tree, so none is loaded.
      ...['--setting-sources', 'user', '--strict-mcp-config'],
    ],
    schema: { flag: '--json-schema', as: 'text' },
  },
  sandbox: {
    hosts: ['api.anthropic.com', 'console.anthropic.com', 'platform.claude.com'],
    addressVariables: ['ANTHROPIC_BASE_URL'],
    loginVariables: [
      ...['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
      ...['AWS_BEARER_TOKEN_BEDROCK', 'ANTHROPIC_FOUNDRY_API_KEY'],
      ...['CLAUDE_CODE_CLIENT_KEY', 'CLAUDE_CODE_CLIENT_KEY_PASSPHRASE'],
    ],
    folders: [{ inHome: '.claude', variable: 'CLAUDE_CONFIG_DIR', inVariable: '' }],
    fixed: [
      ...['settings.json', 'settings.local.json', 'CLAUDE.md', '.mcp.json', '.claude.json'],
      ...['commands', 'agents', 'skills', 'hooks', 'plugins', 'local', 'workflows', 'routines'],
      ...['rules', 'output-styles', 'scheduled_tasks.json', 'remote-settings.json'],
    ],
    inTree: [
      '.mcp.json',
      ...[
        ...['settings.json', 'settings.local.json', 'commands', 'agents', 'skills', 'hooks'],
        ...['plugins', 'local', 'workflows', 'rules', 'output-styles'],
      ].map((name) => `.claude/${name}`),
    ],
    state: {
      names: [
        ...['projects', 'todos', 'tasks', 'teams', 'plans', 'sessions', 'session-env', 'shares'],
        ...['file-history', 'paste-cache', 'image-cache', 'uploads', 'shell-snapshots', 'backups'],
        ...['agent-memory', 'cache', 'ide', 'statsig', 'logs', 'debug', 'telemetry', 'usage-data'],
        ...['traces', 'startup-perf', 'dump-prompts', 'feedback-bundles', 'history.jsonl'],
        ...['stats-cache.json', 'mcp-needs-auth-cache.json', 'gh-pr-status-cache.json'],
        ...['policy-limits.json', '.credentials.json', '.last-cleanup', '.update.lock'],
        ...['.last-update-result.json', '.deep-link-register-failed'],
      ],
      ofSessions: ['shell-snapshots'],
    },
    loginFiles: ['.claude.json'],
  },
  remedies: {
    'not-logged-in':
      'log in with claude /login, or make a token for cron with claude setup-token and set CLAUDE_CODE_OAUTH_TOKEN, or set a valid ANTHROPIC_API_KEY',
    'slash-command':
      'claude took the prompt for a slash command; put a word or an empty line before the slash',
    'bad-option': 'remove the option, or update claude (claude update)',
    'root-refused':
      'claude skips permissions for root only in a sandbox: run as another user, or set IS_SANDBOX=1 if this is one',
  },

  wordings: [
    { pattern: /^no conversation found with session id.*$/im, means: 'session-gone' },
    { pattern: /^error: unknown option .*$/m, means: 'bad-option' },
    { pattern: /^error: (option|argument) .*$/im, means: 'bad-option' },
    { pattern: /^.*cannot be used with root\/sudo privileges.*$/m, means: 'root-refused' },
    { pattern: /^prompt is too long/im, means: 'too-long' },
    {
      pattern:
        /^api error\b.*\b(connection error|econnrefused|econnreset|enotfound|etimedout|eai_again|fetch failed|socket hang up|socket connection was closed|connection closed|request timed out|unable to connect)/im,
      means: 'transient',
    },
  ],
  errorCodes: {
    authentication_failed: 'not-logged-in',
    oauth_org_not_allowed: 'not-logged-in',
    billing_error: 'no-credit',
    server_error: 'transient',
    overloaded: 'transient',
    rate_limit: 'transient',
    model_not_found: 'refused-request',
  },
  readAnswer(report, { usage, turns }, prompt) {
    if (report.isBrokenOff && report.text?.trim()) return errored(BROKEN_OFF);
    if (report.numTurns !== 0 || usage.cost_usd !== 0 || turns !== 0) return null;
    const text = oneLine(report.text ?? '', 300);
    const isCommand = report.isLocal || /^\s*\//.test(prompt) || /^Unknown command: \//.test(text);
    return isCommand ? fatal('slash-command', text) : errored(text === '' ? NO_TURN : text);
  },
});

const BROKEN_OFF = 'claude ended before its model had finished the answer';
const NO_TURN = 'claude ended without a turn of the model';
