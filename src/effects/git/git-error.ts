import { maskSecrets } from '../../core/secrets/secrets.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import type { GitAnswer } from './call/git-command.ts';
import { lockIn } from './git-locks.ts';
import { asText } from './tree-path.ts';

/** Says that git refused a step; `message` is a clause. */
export class GitError extends Error {
  /** What git wrote to standard error; '' if git wrote nothing, or if ralph itself refused the step. */
  readonly complaint: string;

  constructor(message: string, complaint = '') {
    super(message);
    this.complaint = complaint;
  }
}

/** Returns git's output without the last line break. If git failed, throws a `GitError` (`why`, or git's reason). */
export function outputOf(answer: GitAnswer, why?: string): string {
  if (answer.exitCode !== 0) throw new GitError(why ?? reasonOf(answer), answer.complaint);
  return answer.output.endsWith('\n') ? answer.output.slice(0, -1) : answer.output;
}

/** Awaits a step. If git refuses the step, rejects with a `GitError` that says `why`, and then what git said. */
export async function must<Value>(step: Promise<Value>, why: string): Promise<Value> {
  try {
    return await step;
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    const said = oneLine(asText(error.complaint).trim(), 300);
    throw new GitError(said === '' ? why : `${why}: ${said}`, error.complaint);
  }
}

/** Awaits a step. Returns its value, or null if git refused the step. */
export function orNull<Value>(step: Promise<Value>): Promise<Value | null> {
  return step.catch((error: unknown) => refusalIn(error) && null);
}

/** Awaits a step. Returns the error if git refused the step, and null if not. */
export function gitRefusal(step: Promise<unknown>): Promise<GitError | null> {
  return step.then(() => null, refusalIn);
}

function refusalIn(error: unknown): GitError {
  if (error instanceof GitError) return error;
  throw error;
}

/** Awaits a step. Returns what git said if git refused the step, and null if not. */
export async function complaintOf(step: Promise<unknown>): Promise<string | null> {
  return (await gitRefusal(step))?.complaint ?? null;
}

/** Says that a command of git was killed because it took too long or seemed to hang. */
export function didNotAnswer(command: string): string {
  return `git did not answer (git ${command})`;
}

/** Matches messages of a full disk. Their words count only at the end of a line, since file names may hold them. */
const FULL =
  /\b(?:ENOSPC|EDQUOT): |(?:^|: |\. )(?:no space left on device|disk quota exceeded|out of diskspace)\W?$/im;

/** Whether a message of git or of the system says that the disk, or the user's share of it, is full. */
export function saysFull(words: string): boolean {
  return FULL.test(words);
}

/** Returns why git failed: a lock in its way, a full disk, or else its first sentence, or else the exit code. */
export function reasonOf({ complaint, exitCode, isUnanswered }: GitAnswer): string {
  const lock = lockIn(complaint);
  if (lock !== null) return lock;
  const lines = [...asText(complaint).matchAll(/^(?:fatal|error): (.+)$/gm)];
  const said = lines.map(([, text = '']) => text);
  const line = said.find(saysFull) ?? said[0];
  if (line !== undefined) return oneLine(maskSecrets(line), 300);
  if (exitCode !== null) return `git ended with ${exitCode}`;
  return isUnanswered === true ? 'git did not answer' : 'git was ended or was not started';
}
