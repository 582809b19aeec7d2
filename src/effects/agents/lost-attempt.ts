import path from 'node:path';
import type { AttemptFacts } from '../../core/agent/attempt.ts';
import { logFiles, logReader } from '../logs/bounded-log.ts';
import { transcriptNames } from '../logs/iteration-log.ts';
import { type AgentKind, silentReader } from './agent.ts';

/** What the log says about an attempt that is not counted yet, because the ralph process that ran it has died. */
export interface LostAttempt {
  /** The cost and tokens that the agent reported, as in the facts of an attempt. */
  readonly told: Pick<AttemptFacts, 'usage' | 'sessionUsage' | 'sessionId'>;
  /** When the agent last wrote output, as an ISO instant; null if it wrote nothing. */
  readonly lastWordAt: string | null;
}

/** Reads an iteration's log from the position at which the attempt began, like the output of a running agent. */
export function readLostAttempt(
  kind: AgentKind,
  folder: string,
  iteration: number,
  from: number,
): LostAttempt {
  const { stdout, stderr } = transcriptNames(iteration);
  const reader = silentReader(kind);
  for (const { chunk } of logReader(from)(path.join(folder, stdout))) reader.push(chunk);
  reader.end();
  const written = [stdout, stderr]
    .flatMap((name) => logFiles(path.join(folder, name)))
    .filter(({ size }) => size > 0)
    .map(({ writtenMs }) => writtenMs);
  return {
    told: reader.facts(),
    lastWordAt: written.length === 0 ? null : new Date(Math.max(...written)).toISOString(),
  };
}
