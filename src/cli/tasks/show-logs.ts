import { type PartedLog, readableParts } from '../../compose/agent.ts';
import { DEFAULT_AGENT } from '../../core/agent/agents/agents.ts';
import type { LogItem } from '../../core/agent/log-item.ts';
import { createPlainLog, createReadableLog } from '../../effects/claude/readable-log.ts';
import { readAgentNotes } from '../../effects/logs/agent-notes.ts';
import { readStoredRun } from '../../effects/plan/stored-settings.ts';
import { findTaskEntry } from '../../effects/state/task-list.ts';
import { type LogPiece, openTaskLogs } from '../../effects/state/task-logs.ts';
import { EXIT_FAILED } from '../../exit-codes.ts';
import {
  iterationHeader,
  logText,
  noLogsYet,
  noSuchIteration,
  STDERR_HEADER,
} from '../../report/screens/logs.ts';
import { say, standardOutlet } from '../terminal/outlet.ts';
import { unknownTask } from './unknown-task.ts';

/** Which logs of a task are shown, and how. */
export interface LogsWanted {
  /** The only iteration that is shown; null for all. */
  readonly iteration: number | null;
  /** Whether to show new output until the loop ends. */
  readonly follow: boolean;
  /** Whether to print the bytes as the agent wrote them. */
  readonly raw: boolean;
}

/** `ralph logs` on the task of a state folder. Resolves to the exit code. */
export async function printLogs(
  stateDir: string,
  taskId: string,
  wanted: LogsWanted,
): Promise<number> {
  const logs = openTaskLogs(stateDir, taskId);
  if (logs === null) throw unknownTask(taskId, stateDir);
  const { iteration } = wanted;
  const there = logs.iterations();
  if (iteration !== null && !there.includes(iteration)) {
    say(noSuchIteration(taskId, iteration, there));
    return EXIT_FAILED;
  }
  if (there.length === 0) say(noLogsYet(taskId));
  await showLogs(stateDir, taskId, wanted);
  return 0;
}

/** Prints, on standard output, the logs of a task that has a folder. Resolves to false if the reader has gone. */
export async function showLogs(
  stateDir: string,
  taskId: string,
  { raw, iteration, follow }: LogsWanted,
): Promise<boolean> {
  const logs = openTaskLogs(stateDir, taskId);
  if (logs === null) return true;
  const outlet = standardOutlet();
  const show = raw ? rawBytes : readableText((number) => logOf(number, taskId, stateDir));
  for await (const piece of logs.read({ iteration, follow })) {
    // The reader has gone, as in `ralph logs … | head`.
    if (!(await outlet.write(show(piece)))) return false;
  }
  return true;
}

function rawBytes(piece: LogPiece): Uint8Array {
  return piece.kind === 'stdout' ? piece.chunk : new Uint8Array();
}

function logOf(iteration: number, taskId: string, stateDir: string): PartedLog {
  const folderNow = (): string | null => findTaskEntry(stateDir, taskId)?.folder ?? null;
  const folder = folderNow();
  const stored = folder === null ? null : readStoredRun(folder);
  if (stored === null) return createReadableLog();
  const options = { ...stored, cwd: stored.startDir, env: {} };
  const partsOf = () => readAgentNotes(folderNow() ?? '', iteration);
  // If no note says which agent wrote a log, the default agent is assumed: the settings name only the latest agents.
  return readableParts(partsOf, DEFAULT_AGENT, options);
}

/** Returns a function that turns each piece of a log into text. It keeps an incomplete line until the rest comes. */
function readableText(create: (iteration: number) => PartedLog): (piece: LogPiece) => string {
  let stdout: PartedLog = createPlainLog();
  let stderr = createPlainLog();
  let hasErrors = false;
  const errors = (items: readonly LogItem[]): string => {
    const header = hasErrors || items.length === 0 ? '' : STDERR_HEADER;
    hasErrors ||= items.length > 0;
    return header + textOf(items);
  };
  return (piece) => {
    switch (piece.kind) {
      case 'iteration':
        stdout = create(piece.number);
        stderr = createPlainLog();
        hasErrors = false;
        return iterationHeader(piece.number);
      case 'stdout':
        return textOf(stdout.push(piece.chunk, piece.at));
      case 'stdout-end':
        return textOf(stdout.end());
      case 'stderr':
        return errors(stderr.push(piece.chunk));
      case 'stderr-end':
        return errors(stderr.end());
    }
  };
}

function textOf(items: readonly LogItem[]): string {
  return items.map(logText).join('');
}
