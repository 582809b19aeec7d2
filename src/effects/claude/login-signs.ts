import { existsSync } from 'node:fs';
import path from 'node:path';
import { MB, tryReadText } from '../files/bounded-read.ts';
import { homeFolder } from '../files/home-folder.ts';
import { objectAt, parseObject } from '../files/json-fields.ts';

export interface LoginSigns {
  /** Signs of a login: names and paths, never values. */
  readonly found: readonly string[];
  /** False if a login may leave no visible trace: on macOS it is in the keychain. */
  readonly isConclusive: boolean;
}

/** Variables that authenticate `claude`, or make it use another service. */
const VARIABLES = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
];

/**
 * Looks for signs that `claude` is logged in, without running anything. For the credentials file it
 * only checks existence; no credential is ever read.
 */
export function findLoginSigns(
  cwd: string,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): LoginSigns {
  const own = env.CLAUDE_CONFIG_DIR || path.join(homeFolder(env) ?? path.sep, '.claude');
  const login = path.join(own, '.credentials.json');
  const settings = [
    path.join(own, 'settings.json'),
    path.join(cwd, '.claude', 'settings.json'),
    path.join(cwd, '.claude', 'settings.local.json'),
    platform === 'darwin'
      ? '/Library/Application Support/ClaudeCode/managed-settings.json'
      : '/etc/claude-code/managed-settings.json',
  ];
  return {
    found: [
      ...VARIABLES.filter((name) => isSet(env[name])),
      ...(existsSync(login) ? [login] : []),
      ...settings.flatMap(signsInSettings),
    ],
    isConclusive: platform !== 'darwin',
  };
}

/** Settings can name a helper that fetches a key, or set one of the variables. */
function signsInSettings(file: string): readonly string[] {
  const settings = parseObject(tryReadText(file, MB) ?? '') ?? {};
  const variables = objectAt(settings, 'env') ?? {};
  return [
    ...(isSet(settings.apiKeyHelper) ? [`apiKeyHelper in ${file}`] : []),
    ...VARIABLES.filter((name) => isSet(variables[name])).map((name) => `${name} in ${file}`),
  ];
}

function isSet(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value !== '0' && value !== 'false';
}
