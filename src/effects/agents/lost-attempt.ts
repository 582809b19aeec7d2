import { closeSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import type { AttemptFacts } from '../../core/agent/attempt.ts';
import { openRegular } from '../files/bounded-read.ts';
import { readNotedCost } from '../logs/cost-notes.ts';
import { transcriptNames } from '../logs/iteration-log.ts';
import { type AgentKind, silentReader } from './agent.ts';

/** What the log says about an attempt whose driver died before it counted the attempt. */
export interface LostAttempt {
  /** The cost and tokens that the agent reported, as in the facts of an attempt. */
  readonly told: Pick<AttemptFacts, 'usage' | 'sessionUsage' | 'sessionId'>;
  /** When the agent last wrote output, as an ISO instant; null if it wrote nothing. */
  readonly lastWordAt: string | null;
}

const CHUNK_BYTES = 1024 * 1024;

/**
 * Reads an iteration's log from `fromByte`, at which the attempt began, like the output of a running
 * agent. If the log reached its limit, the driver wrote a cost note, which takes precedence.
 */
export function readLostAttempt(
  kind: AgentKind,
  folder: string,
  { iteration, attempt }: { readonly iteration: number; readonly attempt: number },
  fromByte: number,
): LostAttempt {
  const names = transcriptNames(iteration);
  const stdout = path.join(folder, names.stdout);
  const logs = [stdout, `${stdout}.tail`, path.join(folder, names.stderr)];
  const touched = logs.flatMap((file) => lengthened(file));
  const lastMs = Math.max(0, ...touched);
  const noted = readNotedCost(folder, iteration, attempt);
  return {
    told: noted ?? toldIn(kind, stdout, fromByte),
    lastWordAt: lastMs === 0 ? null : new Date(lastMs).toISOString(),
  };
}

function toldIn(kind: AgentKind, log: string, fromByte: number): LostAttempt['told'] {
  const reader = silentReader(kind);
  pushFile(log, fromByte, reader.push);
  reader.end();
  return reader.facts();
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
    // There is no log, because the agent was not started yet or the disk was full.
  }
}
