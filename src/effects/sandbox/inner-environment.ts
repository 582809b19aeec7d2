import path from 'node:path';
import { isLoopback } from '../../core/sandbox/net-rules.ts';
import type { SandboxRules } from '../../core/sandbox/rules.ts';
import type { PlacedCommand } from '../processes/find-program.ts';
import { INNER_MARK } from '../processes/process-table.ts';

/** Returns the environment of a command in the sandbox: without the dropped variables, and with caches in `tmp`. */
export function innerEnvironment(
  env: NodeJS.ProcessEnv,
  { dropEnv }: SandboxRules,
  tmp: string,
): NodeJS.ProcessEnv {
  const dropped = new Set(dropEnv.map((rule) => rule.value));
  const kept = Object.entries(env).filter(([name]) => !dropped.has(name));
  return { ...Object.fromEntries(kept), ...variablesInside(tmp) };
}

/** Returns the variables that the sandbox sets for a command with this temporary folder. */
export function variablesInside(tmp: string): Readonly<Record<string, string>> {
  return {
    TMPDIR: tmp,
    // Not the user's caches: programs outside run what lies there, and `~/.npm/_npx` may hold ralph itself.
    npm_config_cache: path.join(tmp, 'npm'),
    XDG_CACHE_HOME: path.join(tmp, 'cache'),
    CLAUDE_CODE_TMPDIR: tmp,
  };
}

/**
 * A shell command that waits, at most 2 s each, for the ports 3128 and 1080, which pass connections on to the proxies.
 * The component (the sandbox package) opens them while the command starts, so the first connection of a quick command
 * would be refused.
 */
const PROXIES_LISTEN = [
  'for port in 0C38 0438; do tries=0',
  'until grep -qs ":$port [^ ]* 0A " /proc/net/tcp /proc/net/tcp6 || [ "$tries" -ge 100 ]',
  'do tries=$((tries + 1)); sleep 0.02; done; done',
].join('; ');

/** Returns the line that a shell in the sandbox runs. With `exitFile`, it writes the command's exit code there. */
export function innerLine(
  { file, args, cwd }: PlacedCommand,
  rules: SandboxRules,
  tmp: string,
  exitFile: string | null,
): string {
  const words = [file, ...args].map(quoted).join(' ');
  // TMPDIR is set again, since the component has set it to the folder of the run.
  const own = `export ${INNER_MARK} TMPDIR=${quoted(tmp)}`;
  const ready = `${PROXIES_LISTEN}; cd ${quoted(cwd)} && ${noProxy(rules)} && ${own}`;
  if (exitFile === null) return `${ready} && exec ${words}`;
  return `${ready} && { ${words}; code=$?; echo "$code" > ${quoted(exitFile)}; exit "$code"; }`;
}

/**
 * Returns a shell command that sends connections to private addresses through the proxy, too: the sandbox package lets
 * them bypass it, but nothing answers there inside the sandbox. Only `localhost` still bypasses the proxy, unless the
 * rules allow a server on the user's machine.
 */
function noProxy({ allowNet }: SandboxRules): string {
  if (allowNet.some((rule) => isLoopback(rule.value))) return 'unset NO_PROXY no_proxy';
  return 'export NO_PROXY=localhost,127.0.0.1,::1 no_proxy=localhost,127.0.0.1,::1';
}

/** Each command line that the component makes starts bwrap with these options. */
const FIRST_OPTIONS = ' --new-session --die-with-parent ';

/** The file descriptor of the system-call filter: not 9, which the component itself may use. */
const FILTER_FD = 8;

/** Gives a command line its own shared memory and message queues, and a system-call filter. Throws if it cannot. */
export function withOwnKernelObjects(line: string, filter: string): string {
  const at = line.indexOf(FIRST_OPTIONS);
  if (at === -1) throw new Error('the line of the component does not start bwrap as expected');
  const own = ` --unshare-ipc --add-seccomp-fd ${FILTER_FD}`;
  return `${line.slice(0, at)}${own}${line.slice(at)} ${FILTER_FD}< ${quoted(filter)}`;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
