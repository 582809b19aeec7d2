import { writeTrouble } from '../../effects/files/folder-probe.ts';
import { errorCode } from '../../effects/files/write-file.ts';
import { saysFull } from '../../effects/git/git-error.ts';
import { findProgram } from '../../effects/processes/find-program.ts';
import { messageOf, SandboxError, UsageError } from '../../errors.ts';
import { RunDropped } from '../../loop/run-dropped.ts';
import { LegFailed } from './leg-failed.ts';
import type { LegWorld } from './leg-world.ts';

/** The worker cannot work for now, so its run of the task is dropped, and another worker takes the task. */
export class WorkerSick extends RunDropped {}

/** The error codes of a system that has run out of a resource, or whose disk is broken. */
const CODES: ReadonlySet<string> = new Set([
  ...['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE', 'ENOMEM'],
]);
/** The same failures as git words them at the end of a line; its exit codes do not tell them apart. */
const WORDS =
  /(?:^|: )(?:read-only file system|cannot allocate memory|too many open files|input\/output error)\W?$/im;

/**
 * Returns the error with which the run is dropped if its failure is the worker's and not the task's: the disk is full,
 * the home cannot be written, or git is missing. Null for any other failure.
 */
export function sicknessIn(
  error: unknown,
  { home, env }: Pick<LegWorld, 'home' | 'env'>,
): WorkerSick | null {
  if (error instanceof WorkerSick) return error;
  if (isOfTask(error)) return null;
  if (!(error instanceof LegFailed) && saysSo(error, home)) return new WorkerSick(messageOf(error));
  // Other errors may have such a cause without saying so, so the home and git are tested.
  const trouble = writeTrouble(home) ?? gitTrouble(env);
  return trouble === null ? null : new WorkerSick(trouble);
}

/** Whether the failure is the task's own, so that every other worker would fail, too. */
function isOfTask(error: unknown): boolean {
  if (error instanceof LegFailed) {
    const reasons = ['failed:policy', 'failed:worker-died', 'failed:repository'];
    return reasons.includes(error.exitReason) && !error.keepsTree;
  }
  return (
    error instanceof RunDropped || error instanceof UsageError || error instanceof SandboxError
  );
}

function saysSo(error: unknown, home: string): boolean {
  const code = errorCode(error);
  if (CODES.has(code)) return true;
  if (code === 'EACCES' || code === 'EPERM') {
    return (error as NodeJS.ErrnoException).path?.startsWith(`${home}/`) === true;
  }
  const words = messageOf(error);
  return saysFull(words) || WORDS.test(words);
}

function gitTrouble(env: NodeJS.ProcessEnv): string | null {
  const found = findProgram({ name: 'git', env, cwd: '/', further: [] });
  return 'file' in found ? null : 'there is no git on its PATH';
}
