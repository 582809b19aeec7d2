import { type BoundedLog, openBoundedLog } from './bounded-log.ts';
import type { PinnedFolder } from './trust/pinned-folder.ts';

/** The raw output of one iteration as it comes, appended over its attempts. */
interface Transcript {
  /** To be called once the agent runs: files are opened while it starts. */
  open(): void;
  stdout(chunk: Uint8Array): void;
  stderr(chunk: Uint8Array): void;
  /** Whether a part of standard output may be left out. */
  isCut(): boolean;
  close(): void;
}

/** The log files of an iteration: `iteration-0001.stdout.log` and `.stderr.log`. */
export function transcriptNames(iteration: number): { stdout: string; stderr: string } {
  const name = `iteration-${String(iteration).padStart(4, '0')}`;
  return { stdout: `${name}.stdout.log`, stderr: `${name}.stderr.log` };
}

/**
 * The log of an iteration, of which `maxBytes` a stream are kept. Writes are synchronous: they
 * land in the page cache, and while one runs nothing more is read from the agent, so that a fast
 * agent cannot fill the memory.
 */
export function createTranscript(
  folder: PinnedFolder,
  iteration: number,
  maxBytes: number,
): Transcript {
  const names = transcriptNames(iteration);
  const logs = new Map<'stdout' | 'stderr', BoundedLog>();
  return {
    open() {
      for (const stream of ['stdout', 'stderr'] as const) {
        logs.set(stream, openBoundedLog(folder, names[stream], maxBytes));
      }
    },
    stdout: (chunk) => logs.get('stdout')?.write(chunk),
    stderr: (chunk) => logs.get('stderr')?.write(chunk),
    isCut: () => logs.get('stdout')?.isFull() === true,
    close() {
      for (const log of logs.values()) log.close();
    },
  };
}
