import type { Agent } from '../agent.ts';
import { installedAgent } from './installed-agent.ts';

/** Google's gemini. */
export const gemini: Agent = installedAgent({
  name: 'gemini',
  package: '@google/gemini-cli',
  ownFlags: ['-o', '--output-format', '-p', '--prompt', '-i', '--prompt-interactive'],
  expandsAtPaths: true,
  tells: ['calls', 'refusals'],
  nestingVariables: ['GEMINI_CLI', 'GEMINI_CLI_NO_RELAUNCH'],
  permissionsNotice:
    'gemini may read only: its tools that change files or run commands are taken away. Use --edit or --dangerously-skip-permissions (its yolo) to allow them.',
  readOnlyModes: ['plan', 'default'],
  editsAnd: ', but run no command: it cannot be allowed single ones',
  promptLimit: { most: 8 * 1024 * 1024, unit: 'bytes' },
  judging: {
    instructedBy: ['GEMINI.md', '.gemini'],
    args: ['--approval-mode', 'plan'],
    schema: null,
  },
  sandbox: {
    hosts: [
      ...['generativelanguage.googleapis.com', 'cloudcode-pa.googleapis.com'],
      'oauth2.googleapis.com',
    ],
    addressVariables: ['GOOGLE_GEMINI_BASE_URL'],
    loginVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_APPLICATION_CREDENTIALS'],
    folders: [{ inHome: '.gemini', variable: '', inVariable: '' }],
    fixed: [
      ...['settings.json', 'GEMINI.md', '.env', 'trustedFolders.json'],
      ...['commands', 'extensions', 'hooks', 'skills', 'agents', 'policies'],
    ],
    inTree: [
      ...[
        'settings.json',
        '.env',
        'commands',
        'extensions',
        'hooks',
        'skills',
        'agents',
        'policies',
      ],
    ].map((name) => `.gemini/${name}`),
  },
  remedies: {
    'not-logged-in': 'start gemini once and log in, or set a valid GEMINI_API_KEY',
  },
  wordings: [
    {
      pattern: /invalid session identifier|no previous sessions found for this project/i,
      means: 'session-gone',
    },
    { pattern: /API_KEY_INVALID|api key not valid/i, means: 'not-logged-in' },
    { pattern: /please set an auth method|invalid auth method/i, means: 'not-logged-in' },
    { pattern: /token count .{0,80}exceeds the maximum/i, means: 'too-long' },
    { pattern: /is not found for API version/i, means: 'refused-request' },
    { pattern: /^unknown arguments?: .*$/im, means: 'bad-option' },
    { pattern: /FatalTurnLimitedError|reached max session turns/i, means: 'max-turns' },
    // gemini waits only half a second for its prompt, which can be too short on a busy machine.
    { pattern: /^no input provided via stdin/im, means: 'transient' },
    { pattern: /fetch failed|stream ended without a finish reason/i, means: 'transient' },
  ],
  exitCodes: { 41: 'not-logged-in', 53: 'max-turns' },
});
