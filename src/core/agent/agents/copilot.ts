import type { Agent } from '../agent.ts';
import { installedAgent } from './installed-agent.ts';

/** GitHub's copilot. It reports neither cost nor tokens. */
export const copilot: Agent = installedAgent({
  name: 'copilot',
  package: '@github/copilot',
  further: ['allowedTools'],
  ownFlags: ['--output-format', '-p', '--prompt', '-i', '--interactive'],
  tells: ['calls', 'refusals'],
  versionVariables: { COPILOT_AUTO_UPDATE: 'false' },
  permissionsNotice:
    'copilot may read only: it asks before it edits files or runs commands, and without anyone to answer these are refused. Use --edit, --allowed-tools or --dangerously-skip-permissions to allow them.',
  commandRule: ([program = '', ...rest]) =>
    rest.length === 1 && WITH_SUBCOMMANDS.includes(program) ? `shell(${program} ${rest[0]})` : null,
  permissionModeProblem: (mode) =>
    mode === 'acceptEdits'
      ? null
      : 'is not for --agent copilot, which has no permission modes; it takes acceptEdits, and --allowed-tools with its own names of tools',
  judging: null,
  sandbox: {
    hosts: ['api.github.com', 'api.githubcopilot.com', '*.githubcopilot.com'],
    addressVariables: ['COPILOT_PROVIDER_BASE_URL'],
    loginVariables: [
      'COPILOT_GITHUB_TOKEN',
      'COPILOT_PROVIDER_API_KEY',
      'COPILOT_PROVIDER_BEARER_TOKEN',
      'GH_TOKEN',
      'GITHUB_TOKEN',
    ],
    folders: [{ inHome: '.copilot', variable: 'COPILOT_HOME', inVariable: '' }],
    fixed: [
      ...['config.json', 'mcp-config.json', 'copilot-instructions.md'],
      ...['agents', 'hooks', 'skills', 'installed-plugins', 'pkg'],
    ],
    inTree: ['.github/hooks'],
  },
  remedies: {
    'not-logged-in': 'start copilot once and log in, or set a valid GH_TOKEN',
  },
  wordings: [
    { pattern: /no session, task, or name matched/i, means: 'session-gone' },
    { pattern: /request exceeds the model['’]s prompt budget/i, means: 'too-long' },
    { pattern: /^error: unexpected argument .*$/m, means: 'bad-option' },
    { pattern: /^(error: )?no authentication information found/im, means: 'not-logged-in' },
  ],
});

/**
 * The programs for which a rule of copilot can allow single subcommands, as tested with version 1.0.102. A rule for
 * any other program allows all of its commands.
 */
const WITH_SUBCOMMANDS: readonly string[] = [
  ...['npm', 'yarn', 'pnpm', 'npx', 'cargo', 'go', 'git', 'dotnet', 'mvn', 'gradle'],
  ...['bundle', 'poetry', 'composer', 'pip'],
];
