import type { Agent } from '../agent.ts';
import { installedAgent } from './installed-agent.ts';

/** The name of the agent that ralph defines inside opencode for judging. */
const JUDGE = 'ralph-judge';

/** The opencode of SST. It has no permission modes of its own. */
export const opencode: Agent = installedAgent({
  name: 'opencode',
  package: 'opencode-ai',
  further: ['maxCost', 'maxCostPerDay'],
  ownFlags: ['--format', '--session', '-s', '--continue', '-c', '--interactive', '-i'],
  tells: ['calls', 'refusals', 'tokens', 'cost'],
  nestingVariables: ['OPENCODE'],
  versionVariables: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
  permissionsNotice: null,
  editsAnd: ', and run any command',
  permissionModeProblem(mode) {
    if (mode === 'acceptEdits') return null;
    return mode === 'plan'
      ? 'is not for --agent opencode: its plan agent runs commands that write. Deny the tools in the configuration of opencode instead'
      : 'is not for --agent opencode, which has no permission modes: it does all inside its folder, and asks for the rest, which nobody answers';
  },
  judging: {
    instructedBy: ['opencode.json', 'opencode.jsonc', '.opencode'],
    // The permissions of a separate agent override those in the user's own files.
    args: ['--agent', JUDGE],
    schema: null,
    variables({ OPENCODE_CONFIG_CONTENT: given }) {
      const agent = { [JUDGE]: { mode: 'primary', permission: READ_ONLY } };
      return {
        OPENCODE_CONFIG_CONTENT: JSON.stringify({
          ...configIn(given),
          permission: READ_ONLY,
          agent,
        }),
        // A value that the user has given this variable would override the configuration above.
        OPENCODE_PERMISSION: JSON.stringify(READ_ONLY),
      };
    },
  },
  sandbox: {
    // The configuration of opencode can name any other service. The user has to allow its host.
    hosts: ['opencode.ai', 'models.dev', 'api.anthropic.com', 'api.openai.com'],
    loginVariables: ['OPENCODE_API_KEY', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY'],
    folders: [
      { inHome: '.local/share/opencode', variable: 'XDG_DATA_HOME', inVariable: 'opencode' },
      { inHome: '.local/state/opencode', variable: 'XDG_STATE_HOME', inVariable: 'opencode' },
    ],
    fixed: ['bin'],
    inTree: ['opencode.json', 'opencode.jsonc', '.opencode'],
  },
  remedies: {
    'not-logged-in': 'log in with opencode auth login, or set a valid key for its provider',
  },
  wordings: [
    { pattern: /session not found/i, means: 'session-gone' },
    { pattern: /printed its help/i, means: 'bad-option' },
    { pattern: /ContextOverflowError/, means: 'too-long' },
    { pattern: /ProviderModelNotFoundError|model not found/i, means: 'refused-request' },
    { pattern: /unexpected server error/i, means: 'refused-request', atOnce: true },
  ],
});

/** Permissions of the judge. `*` denies every tool that is not named here. */
const READ_ONLY = { '*': 'deny', read: 'allow', grep: 'allow', glob: 'allow', list: 'allow' };

/** Returns the user's configuration in `OPENCODE_CONFIG_CONTENT`. ralph keeps it: it can name the model's service. */
function configIn(given: string | undefined): object {
  try {
    const config: unknown = JSON.parse(given ?? '{}');
    return typeof config === 'object' && config !== null ? config : {};
  } catch {
    return {};
  }
}
