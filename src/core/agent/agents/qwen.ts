import type { Agent } from '../agent.ts';
import { installedAgent } from './installed-agent.ts';

/** Alibaba's qwen. */
export const qwen: Agent = installedAgent({
  name: 'qwen',
  package: '@qwen-code/qwen-code',
  further: ['allowedTools'],
  ownFlags: [
    ...['-o', '--output-format', '--input-format'],
    ...['-p', '--prompt', '-i', '--prompt-interactive'],
  ],
  expandsAtPaths: true,
  tells: ['calls', 'tokens'],
  permissionsNotice:
    'qwen runs with its default permissions: it may read files, but asks before it edits files or runs commands, and without anyone to answer these are refused. Use --edit, --allowed-tools or --dangerously-skip-permissions to allow them.',
  readOnlyModes: ['plan'],
  // A rule of qwen always allows further words after the command, so a command of a single word gets no rule.
  commandRule: (words) => (words.length > 1 ? `run_shell_command(${words.join(' ')})` : null),
  judging: {
    instructedBy: ['QWEN.md', '.qwen'],
    args: ['--approval-mode', 'plan'],
    schema: { flag: '--json-schema', as: 'text' },
  },
  sandbox: {
    hosts: [
      ...['portal.qwen.ai', 'chat.qwen.ai', 'dashscope.aliyuncs.com'],
      'dashscope-intl.aliyuncs.com',
    ],
    addressVariables: ['OPENAI_BASE_URL'],
    loginVariables: ['OPENAI_API_KEY', 'DASHSCOPE_API_KEY'],
    folders: [{ inHome: '.qwen', variable: '', inVariable: '' }],
    fixed: [
      ...['settings.json', 'QWEN.md', '.env', 'trustedFolders.json'],
      ...['commands', 'extensions', 'hooks', 'skills', 'agents'],
    ],
    inTree: [
      ...['settings.json', '.env', 'commands', 'extensions', 'hooks', 'skills', 'agents'],
    ].map((name) => `.qwen/${name}`),
  },
  remedies: {
    'not-logged-in': 'start qwen once and log in, or set a valid OPENAI_API_KEY',
  },
  wordings: [
    { pattern: /no saved session found with id/i, means: 'session-gone' },
    { pattern: /context is too large to send safely/i, means: 'too-long' },
    { pattern: /^unknown arguments?: .*$/im, means: 'bad-option' },
    { pattern: /please set an auth method|invalid auth method/i, means: 'not-logged-in' },
    {
      pattern:
        /^\[API Error: .*\b(connection error|fetch failed|econnrefused|econnreset|etimedout|enotfound|terminated|stream ended)/i,
      means: 'transient',
    },
  ],
});
