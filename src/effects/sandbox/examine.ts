import { execFile } from 'node:child_process';
import { notStarted } from '../../core/sandbox/refusals.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { SandboxError } from '../../errors.ts';
import { realPath } from '../files/real-path.ts';
import { outerPath } from '../processes/outer-path.ts';
import { findComponent } from './component.ts';
import { refuseLoadedCode } from './loaded-code.ts';
import { requireSandboxUser } from './open-planned-sandbox.ts';
import { findTools } from './outer-programs.ts';
import { isRestricted } from './probe.ts';

const TIMEOUT_MS = 10_000;
/** Options of bwrap that start a program in its own namespaces, like the sandbox, and write nothing. */
const IN_NAMESPACES = [
  ...['--die-with-parent', '--unshare-user', '--unshare-pid', '--unshare-net'],
  ...['--ro-bind', '/', '/', '--proc', '/proc', '--', '/bin/sh', '-c', ':'],
];

/** Rejects with the first `SandboxError` that `examineSandbox` finds. */
export async function requireSandbox(
  cwd: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  const [first] = await examineSandbox(cwd, env, signal);
  if (first !== undefined) throw first;
}

/** Returns why a sandbox would be refused in this folder, as far as that shows without opening one. Writes nothing. */
export async function examineSandbox(
  cwd: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<readonly SandboxError[]> {
  const writable = [realPath(cwd)];
  let bwrap = '';
  const refusals = [
    refusalBy(requireSandboxUser),
    refusalBy(() => {
      bwrap = findTools(outerPath(env, writable), writable).bwrap;
    }),
    refusalBy(() => findComponent(writable)),
    refusalBy(() => refuseLoadedCode(env, cwd, writable)),
  ].filter((each) => each !== null);
  return refusals.length > 0 ? refusals : await inNamespaces(bwrap, signal);
}

function refusalBy(look: () => unknown): SandboxError | null {
  try {
    look();
    return null;
  } catch (error) {
    if (error instanceof SandboxError) return error;
    throw error;
  }
}

async function inNamespaces(bwrap: string, signal: AbortSignal): Promise<readonly SandboxError[]> {
  if (process.platform !== 'linux') return [];
  const how = { cwd: '/', env: {}, signal, timeout: TIMEOUT_MS, killSignal: 'SIGKILL' } as const;
  const words = await new Promise<string | null>((resolve) => {
    execFile(bwrap, IN_NAMESPACES, how, (error, _stdout, stderr) => {
      const said = stderr.split('\n').find((line) => line.trim() !== '');
      resolve(error === null ? null : (said ?? error.message));
    });
  });
  if (words === null) return [];
  return [new SandboxError(notStarted(oneLine(words, 300), isRestricted()))];
}
