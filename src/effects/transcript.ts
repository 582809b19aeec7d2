import { closeSync, writeSync } from 'node:fs';
import { openForAppend } from './task-folder.ts';

/** The raw output of one iteration as it comes, appended over its attempts. */
export interface Transcript {
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
 * Opens the log of an iteration. Writes are synchronous: they land in the page cache, and while one
 * runs nothing more is read from the agent, so that a fast agent cannot fill the memory.
 */
export function openTranscript(folder: string, iteration: number): Transcript {
  const names = transcriptNames(iteration);
  const stdout = appender(`${folder}/${names.stdout}`);
  const stderr = appender(`${folder}/${names.stderr}`);
  return {
    stdout: stdout.write,
    stderr: stderr.write,
    close() {
      stdout.close();
      stderr.close();
    },
  };
}

/** Appends until the first failure; a log that cannot be written must not stop the loop. */
function appender(file: string): { write(chunk: Uint8Array): void; close(): void } {
  let descriptor: number | null = null;
  let broken = false;
  try {
    descriptor = openForAppend(file);
  } catch {
    broken = true;
  }
  return {
    write(chunk) {
      if (broken || descriptor === null) return;
      try {
        let offset = 0;
        while (offset < chunk.length) offset += writeSync(descriptor, chunk, offset);
      } catch {
        broken = true;
      }
    },
    close() {
      if (descriptor !== null) closeSync(descriptor);
      descriptor = null;
    },
  };
}
