import { openBoundedLog } from './bounded-log.ts';

/** The raw output of one iteration as it comes, appended over its attempts. */
interface Transcript {
  stdout(chunk: Uint8Array): void;
  stderr(chunk: Uint8Array): void;
  close(): void;
}

/** The log files of an iteration: `iteration-0001.stdout.log` and `.stderr.log`. */
export function transcriptNames(iteration: number): { stdout: string; stderr: string } {
  const name = `iteration-${String(iteration).padStart(4, '0')}`;
  return { stdout: `${name}.stdout.log`, stderr: `${name}.stderr.log` };
}

/**
 * Opens the log of an iteration, of which `maxBytes` a stream are kept. Writes are synchronous: they
 * land in the page cache, and while one runs nothing more is read from the agent, so that a fast
 * agent cannot fill the memory.
 */
export function openTranscript(folder: string, iteration: number, maxBytes: number): Transcript {
  const names = transcriptNames(iteration);
  const stdout = openBoundedLog(`${folder}/${names.stdout}`, maxBytes);
  const stderr = openBoundedLog(`${folder}/${names.stderr}`, maxBytes);
  return {
    stdout: stdout.write,
    stderr: stderr.write,
    close() {
      stdout.close();
      stderr.close();
    },
  };
}
