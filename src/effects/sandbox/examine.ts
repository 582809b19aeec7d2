import { execa } from 'execa';
import { notStarted } from '../../core/sandbox/refusals.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { SandboxError } from '../../errors.ts';
import { realPath } from '../files/real-path.ts';
import { findComponent } from './component.ts';
import { requireSandboxUser } from './open-planned-sandbox.ts';
import { findTools, outerPath } from './outer-programs.ts';
import { isRestricted } from './probe.ts';

const TIMEOUT_MS = 10_000;
/** Starts a program in namespaces of its own, like the component, and writes nothing. */
const IN_NAMESPACES = [
  ...['--die-with-parent', '--unshare-user', '--unshare-pid', '--unshare-net'],
  ...['--ro-bind', '/', '/', '--proc', '/proc', '--', '/bin/sh', '-c', ':'],
];

/**
 * Returns the sentences with which a sandbox would be refused in this folder, as far as that shows without
 * opening one. Writes nothing.
 */
export async function examineSandbox(
  cwd: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const writable = [realPath(cwd)];
  const refusals = [
    refusalBy(requireSandboxUser),
    refusalBy(() => findTools(outerPath(env, writable), writable)),
    refusalBy(() => findComponent(writable)),
  ].filter((each) => each !== null);
  return refusals.length > 0 ? refusals : await inNamespaces(cwd, env, signal);
}

function refusalBy(look: () => unknown): string | null {
  try {
    look();
    return null;
  } catch (error) {
    if (error instanceof SandboxError) return error.message;
    throw error;
  }
}

async function inNamespaces(
  cwd: string,
  env: NodeJS.ProcessEnv,
  cancelSignal: AbortSignal,
): Promise<readonly string[]> {
  if (process.platform !== 'linux') return [];
  const writable = [realPath(cwd)];
  const { bwrap } = findTools(outerPath(env, writable), writable);
  const { exitCode, stderr, originalMessage } = await execa(bwrap, IN_NAMESPACES, {
    ...{ cwd: '/', env: {}, extendEnv: false, stdin: 'ignore', stdout: 'ignore', reject: false },
    ...{ cancelSignal, timeout: TIMEOUT_MS, killSignal: 'SIGKILL' },
  });
  if (exitCode === 0) return [];
  const words = stderr.split('\n').find((line) => line.trim() !== '') ?? originalMessage ?? '';
  return [notStarted(oneLine(words, 300), isRestricted()).sentence];
}
