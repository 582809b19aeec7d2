import { maskSecrets } from '../secrets/secrets.ts';
import { isSecretName } from './secret-names.ts';

/** Variables that lead to an agent or a daemon that acts as the user. */
const WAYS_OUT = ['SSH_AUTH_SOCK', 'DOCKER_HOST'];

/** These names say nothing about their values: ralph's own are ids, paths and settings, and such keys are open. */
const SAYS_NOTHING = /^RALPH_|PUBLISHABLE_KEYS?$/;

/** A URL with a password, which ends at the last `@` of the host. */
const URL_PASSWORD = /:\/\/[^\s/?#:]*:[^\s/?#]+@/;

/** The fields of a URL, as in `jdbc:sqlserver://host;user=sa;password=pw`. */
const URL_FIELDS = /[?&;#]([\w.-]{1,100})=([^\s&;]+)/g;

/**
 * Returns the names of the variables that are dropped: those whose name or value says that they hold a secret, and
 * ways out. What is empty hides nothing.
 */
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
