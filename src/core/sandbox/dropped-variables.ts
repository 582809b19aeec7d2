import { maskSecrets } from '../secrets/secrets.ts';
import { isSecretName } from './secret-names.ts';

/** Variables that lead to a program outside the sandbox that acts as the user, such as an SSH agent. */
const WAYS_OUT = ['SSH_AUTH_SOCK', 'DOCKER_HOST'];

/** Names that do not make a value secret: ralph's own variables (ids, paths and settings), and public keys. */
const SAYS_NOTHING = /^RALPH_|PUBLISHABLE_KEYS?$/;

/** Matches a URL with a password, which ends at the last `@` before the host. */
const URL_PASSWORD = /:\/\/[^\s/?#:]*:[^\s/?#]+@/;

/** Matches the fields of a URL, as in `jdbc:sqlserver://host;user=sa;password=pw`. */
const URL_FIELDS = /[?&;#]([\w.-]{1,100})=([^\s&;]+)/g;

/** Returns the names of variables that look secret or are in `WAYS_OUT`, except empty ones and those in `kept`. */
export function droppedVariables(
  env: Readonly<Record<string, string | undefined>>,
  kept: readonly string[],
): readonly string[] {
  return Object.keys(env)
    .filter((name) => !kept.includes(name))
    .filter((name) => isDropped(name, env[name] ?? ''))
    .sort();
}

function isDropped(name: string, value: string): boolean {
  if (value === '') return false;
  return WAYS_OUT.includes(name) || isSecretName(name, value) || isSecretValue(name, value);
}

function isSecretValue(name: string, value: string): boolean {
  if (value.includes('://')) {
    if (URL_PASSWORD.test(value)) return true;
    const fields = [...value.matchAll(URL_FIELDS)];
    if (fields.some(([, field = '', text = '']) => isSecretName(field, text))) return true;
  }
  const line = SAYS_NOTHING.test(name) ? value : `${name}=${value}`;
  return maskSecrets(line) !== line;
}
