import { existsSync } from 'node:fs';
import path from 'node:path';
import type { DoctorFinding } from '../../core/agent/finding.ts';
import { MB, tryReadText } from '../files/bounded-read.ts';
import { homeFolder } from '../files/home-folder.ts';
import { objectAt, parseObject } from '../files/json-fields.ts';

/** Environment variables that authenticate `claude`, or make it use another service. */
const VARIABLES = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
];

const LOG_IN =
  'start claude once and log in (/login), make a token with claude setup-token for CLAUDE_CODE_OAUTH_TOKEN, or set ANTHROPIC_API_KEY';

/** Reports whether `claude` seems to be logged in. Tells names and paths, but no values. Starts no program. */
export function checkLogin(
  cwd: string,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): DoctorFinding {
  const found = loginSigns(cwd, env, platform);
  if (found.length > 0) {
    return { kind: 'ok', says: `login: ${found.join(', ')} (found, but not tested)`, remedy: null };
  }
  return platform === 'darwin'
    ? {
        kind: 'warning',
        says: 'login: unknown, since claude may keep it in the keychain',
        remedy: `if a run says that claude is not logged in: ${LOG_IN}`,
      }
    : { kind: 'problem', says: 'login: no sign that claude is logged in', remedy: LOG_IN };
}

/** Returns the names and paths of signs of a login. Checks only whether the credentials file exists. */
function loginSigns(
  cwd: string,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): readonly string[] {
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
  return [
    ...VARIABLES.filter((name) => isSet(env[name])),
    ...(existsSync(login) ? [login] : []),
    ...settings.flatMap(signsInSettings),
  ];
}

/** Settings of `claude` can name a helper that fetches a key, or set one of `VARIABLES`. */
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
