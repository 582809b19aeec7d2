import { maskSecrets } from '../../core/secrets/secrets.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import type { GitAnswer } from '../workspace/git-command.ts';

/** A step that git refused; `message` is half a sentence. */
export class SnapshotError extends Error {}

/** All the names are taken. */
export class NameTakenError extends SnapshotError {}

/** Returns what git has printed, without the last line break. Throws a `SnapshotError` if git failed. */
export function outputOf(
  args: readonly string[],
  { exitCode, output, complaint }: GitAnswer,
): string {
  if (exitCode !== 0) throw new SnapshotError(reasonOf(args, complaint));
  return output.endsWith('\n') ? output.slice(0, -1) : output;
}

/** Says that this command of git's was ended since it took too long, or seemed to hang. */
export function didNotAnswer(command: string): string {
  return `git did not answer (git ${command})`;
}

/** The words of the system stand at the end of a line of git's; before that may be any name of a file. */
const FULL =
  /\b(?:ENOSPC|EDQUOT): |(?:^|: |\. )(?:no space left on device|disk quota exceeded|out of diskspace)\W?$/im;

/** Whether words of git or of the system say that the disk, or the user's share of it, is full. */
export function saysFull(words: string): boolean {
  return FULL.test(words);
}

/** Returns git's own first sentence about a failure, or the one that says that the disk is full. */
export function reasonOf([command = 'git']: readonly string[], complaint: string): string {
  const said = [...complaint.matchAll(/^(?:fatal|error): (.+)$/gm)].map(([, text = '']) => text);
  const line = said.find(saysFull) ?? said[0];
  return line === undefined ? `git ${command} failed` : oneLine(maskSecrets(line), 200);
}
