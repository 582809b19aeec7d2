import path from 'node:path';
import type { AttemptFacts } from '../../core/agent/attempt.ts';
import { readPieces, withRegularFile } from '../files/bounded-read.ts';
import { statOf } from '../files/file-kinds.ts';
import { logParts } from '../logs/bounded-log.ts';
import { transcriptNames } from '../logs/iteration-log.ts';
import { type AgentKind, silentReader } from './agent.ts';

/** What the log says about an attempt whose driver died before it counted the attempt. */
export interface LostAttempt {
  /** The cost and tokens that the agent reported, as in the facts of an attempt. */
  readonly told: Pick<AttemptFacts, 'usage' | 'sessionUsage' | 'sessionId'>;
  /** When the agent last wrote output, as an ISO instant; null if it wrote nothing. */
  readonly lastWordAt: string | null;
}

/** Reads an iteration's log from `fromByte`, where the attempt began, like the output of a running agent. */
export function readLostAttempt(
  kind: AgentKind,
  folder: string,
  iteration: number,
  fromByte: number,
): LostAttempt {
  const { stdout, stderr } = transcriptNames(iteration);
  const parts = logParts(path.join(folder, stdout));
  const reader = silentReader(kind);
  let skip = fromByte;
  for (const part of parts) {
    pushFile(part, skip, reader.push);
    skip = Math.max(0, skip - (statOf(part)?.size ?? 0));
  }
  reader.end();
  const written = [...parts, path.join(folder, stderr)].map((file) => {
    const stats = statOf(file);
    return stats === null || stats.size === 0 ? 0 : stats.mtimeMs;
  });
  const lastMs = Math.max(...written);
  return {
    told: reader.facts(),
    lastWordAt: lastMs === 0 ? null : new Date(lastMs).toISOString(),
  };
}

function pushFile(file: string, fromByte: number, push: (chunk: Buffer) => void): void {
  try {
    withRegularFile(file, 0, (descriptor, size) => readPieces(descriptor, fromByte, size, push));
  } catch {
    // There is no log, because the agent was not started yet or the disk was full.
  }
}
