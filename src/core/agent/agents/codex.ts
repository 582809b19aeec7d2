import type { Agent } from '../agent.ts';
import { installedAgent } from './installed-agent.ts';

const MAY_NOTHING =
  'codex runs in its read-only sandbox: it may read files, but changes no file, so a promise that names changed work cannot be true. codex does not report what its sandbox refuses. Use --edit (its workspace-write) or --dangerously-skip-permissions to allow changes.';

/** OpenAI's codex. */
export const codex: Agent = installedAgent({
  name: 'codex',
  package: '@openai/codex',
  ownFlags: ['--json', '--experimental-json', 'resume'],
  tells: ['calls', 'refusals'],
  nestingVariables: [/^CODEX_(?!HOME$|API_KEY$)/],
  permissionsNotice: MAY_NOTHING,
  readOnlyModes: ['plan', 'read-only'],
  editsAnd: ', and run any command in its own sandbox',
  promptLimit: { most: 1_048_576, unit: 'characters' },
  judging: {
    instructedBy: ['AGENTS.md', 'AGENTS.override.md', '.agents', '.codex'],
    args: ['-s', 'read-only'],
    schema: { flag: '--output-schema', as: 'file' },
  },
  sandbox: {
    hosts: ['api.openai.com', 'chatgpt.com', 'auth.openai.com'],
    addressVariables: ['OPENAI_BASE_URL'],
    loginVariables: ['OPENAI_API_KEY', 'CODEX_API_KEY'],
    folders: [{ inHome: '.codex', variable: 'CODEX_HOME', inVariable: '' }],
    fixed: [
      ...['config.toml', 'hooks.json', 'AGENTS.md', 'AGENTS.override.md'],
      ...['prompts', 'skills', 'rules', 'plugins'],
    ],
    inTree: ['config.toml', 'hooks.json', 'rules', 'skills'].map((name) => `.codex/${name}`),
  },
  remedies: {
    'not-logged-in': 'log in with codex login, or set a valid key for its provider',
    'no-credit': 'add credit to the account that codex uses, then ralph resume',
  },
  wordings: [
    { pattern: /no rollout found for thread id/i, means: 'session-gone' },
    // The service also uses these words for a limit per minute, but codex never gets them for that.
    {
      pattern: /you exceeded your current quota|quota exceeded\. check your plan and billing/i,
      means: 'no-credit',
    },
    { pattern: /missing environment variable/i, means: 'not-logged-in' },
    { pattern: /ran out of room in the model['’]s context window/i, means: 'too-long' },
    { pattern: /does not exist or you do not have access/i, means: 'refused-request' },
    { pattern: /^error: unexpected argument .*$/m, means: 'bad-option' },
    {
      pattern:
        /at capacity|experiencing high demand|stream disconnected|rate limit exceeded|exceeded retry limit/i,
      means: 'transient',
    },
    // codex prints the JSON answer of a service that refused the request.
    { pattern: /^\s*\{\s*"(error|detail)"/, means: 'refused-request' },
  ],
  exitCodes: { 2: 'bad-option' },
});
