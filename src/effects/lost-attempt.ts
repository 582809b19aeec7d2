import { closeSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Usage } from '../core/attempt.ts';
import type { AgentKind } from './agent-kind.ts';
import { openRegular } from './bounded-read.ts';
import { transcriptNames } from './transcript.ts';

/** What an attempt has left in its log whose driver died before it could be counted. */
export interface LostAttempt {
  /** What the agent said that it had cost and used. */
  readonly usage: Usage;
  /** When it spoke last, as an ISO instant; null where it has said nothing. */
  readonly lastWordAt: string | null;
}

const CHUNK_BYTES = 1024 * 1024;
const SILENT = { activity() {}, retry() {}, text() {} };
const NO_SIGNS = { resultGiven() {}, retrying() {}, working() {}, hopeless() {} };

/** Reads the log of an iteration from a byte on, as its agent's output was read. Never throws. */
export function readLostAttempt(
  kind: AgentKind,
  folder: string,
  iteration: number,
  fromByte: number,
): LostAttempt {
  const names = transcriptNames(iteration);
  const stdout = path.join(folder, names.stdout);
  const reader = kind.read(SILENT, NO_SIGNS);
  pushFile(stdout, fromByte, reader.push);
  // Where the log was full, what came last went round in here.
  reader.push(Buffer.from('\n'));
  pushFile(`${stdout}.tail`, 0, reader.push);
  reader.end();
  const touched = [stdout, path.join(folder, names.stderr)].flatMap((file) => lengthened(file));
  const lastMs = Math.max(0, ...touched);
  return {
    usage: reader.facts().usage,
    lastWordAt: lastMs === 0 ? null : new Date(lastMs).toISOString(),
  };
}

function lengthened(file: string): readonly number[] {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats !== undefined && stats.size > 0 ? [stats.mtimeMs] : [];
}

function pushFile(file: string, fromByte: number, push: (chunk: Buffer) => void): void {
  try {
    const { descriptor } = openRegular(file, 0);
    try {
      for (let at = fromByte; ; ) {
        const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
        const length = readSync(descriptor, chunk, 0, CHUNK_BYTES, at);
        if (length === 0) return;
        push(chunk.subarray(0, length));
        at += length;
      }
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // No log: the agent was not started yet, or the disk was full.
  }
}
