import { maskSecrets } from '../secrets/secrets.ts';

/** Variables that lead to an agent or a daemon that acts as the user. */
const WAYS_OUT = ['SSH_AUTH_SOCK', 'DOCKER_HOST'];

/** The names of ralph's own variables, which are ids, paths and settings, say nothing. */
const OF_RALPH = /^RALPH_/;

/** Returns the names of the variables that are dropped: those that look like secrets, and ways out. */
export function droppedVariables(
  env: Readonly<Record<string, string | undefined>>,
  kept: readonly string[],
): readonly string[] {
  return Object.keys(env)
    .filter((name) => !kept.includes(name))
    .filter((name) => WAYS_OUT.includes(name) || looksSecret(name, env[name] ?? ''))
    .sort();
}

function looksSecret(name: string, value: string): boolean {
  const line = OF_RALPH.test(name) ? value : `${name}=${value}`;
  return maskSecrets(line) !== line;
}
