import type { PinnedFolder } from '../trust/pinned-folder.ts';
import { type BoundedLog, logEnd, openBoundedLog } from './bounded-log.ts';

/** The raw output of one iteration; its attempts are appended to the same files. */
interface Transcript {
  /** Opens the files. Call this after the agent's start, which it would otherwise delay. */
  open(): void;
  stdout(chunk: Uint8Array): void;
  stderr(chunk: Uint8Array): void;
  /** The position in the log of standard output at which it was opened, in bytes. */
  openedAt(): number;
  close(): void;
}

/** Returns the names of an iteration's logs: `iteration-0001.stdout.log` and `.stderr.log`. */
export function transcriptNames(iteration: number): { stdout: string; stderr: string } {
  const name = iterationName(iteration);
  return { stdout: `${name}.stdout.log`, stderr: `${name}.stderr.log` };
}

/** Returns the position at which the log of an iteration's standard output ends, in bytes. */
export function transcriptEnd(taskFolder: string, iteration: number): number {
  return logEnd(`${taskFolder}/${transcriptNames(iteration).stdout}`);
}

/** Returns how the names of an iteration's files begin: `iteration-0001`. */
export function iterationName(iteration: number): string {
  return `iteration-${String(iteration).padStart(4, '0')}`;
}

/**
 * Creates the log of an iteration, which keeps at most `maxBytes` bytes per stream. Writes are
 * synchronous: they land in the page cache, and nothing is read from the agent meanwhile, so that a
 * fast agent cannot fill the memory.
 */
export function createTranscript(
  folder: PinnedFolder,
  iteration: number,
  maxBytes: number,
): Transcript {
  const names = transcriptNames(iteration);
  let stdout: BoundedLog | null = null;
  let stderr: BoundedLog | null = null;
  return {
    open() {
      stdout = openBoundedLog(folder, names.stdout, maxBytes);
      stderr = openBoundedLog(folder, names.stderr, maxBytes);
    },
    stdout: (chunk) => stdout?.write(chunk),
    stderr: (chunk) => stderr?.write(chunk),
    openedAt: () => stdout?.openedAt ?? 0,
    close() {
      stdout?.close();
      stderr?.close();
    },
  };
}
