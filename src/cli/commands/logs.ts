import { readableParts } from '../../compose/agent.ts';
import { DEFAULT_AGENT } from '../../core/agent/agents/agents.ts';
import {
  createPlainLog,
  createReadableLog,
  type LogItem,
  type ReadableLog,
} from '../../effects/claude/readable-log.ts';
import { readAgentNotes } from '../../effects/logs/agent-notes.ts';
import { readStoredRun } from '../../effects/plan/stored-settings.ts';
import { findTaskEntry } from '../../effects/state/task-list.ts';
import { type LogPiece, openTaskLogs } from '../../effects/state/task-logs.ts';
import { UsageError } from '../../errors.ts';
import { EXIT_FAILED } from '../../exit-codes.ts';
import {
  iterationHeader,
  logText,
  noLogsYet,
  noSuchIteration,
  STDERR_HEADER,
} from '../../report/screens/logs.ts';
import { type FolderOptions, foldersOf } from '../tasks/named-folders.ts';
import { unknownTask } from '../tasks/unknown-task.ts';
import { say, standardOutlet } from '../terminal/outlet.ts';

export interface LogsOptions extends FolderOptions {
  /** Print the bytes as the agent wrote them. */
  readonly raw?: boolean;
  /** A number, not yet parsed. */
  readonly iteration?: string;
  readonly follow?: boolean;
}

/** `ralph logs ID`: prints what the agent wrote, iteration by iteration. */
export async function logs(taskId: string, options: LogsOptions): Promise<number> {
  const iteration = options.iteration === undefined ? null : iterationOf(options.iteration);
  const { stateDir } = foldersOf(options);
  const found = openTaskLogs(stateDir, taskId);
  if (found === null) throw unknownTask(taskId, stateDir);
  const follow = options.follow ?? false;
  const there = found.iterations();
  if (iteration !== null && !there.includes(iteration)) {
    say(noSuchIteration(taskId, iteration, there));
    return EXIT_FAILED;
  }
  if (there.length === 0) say(noLogsYet(taskId));
  const outlet = standardOutlet();
  const show = options.raw ? rawBytes : readableText((number) => logOf(number, taskId, stateDir));
  for await (const piece of found.read({ iteration, follow })) {
    // The reader has gone, as in `ralph logs … | head`.
    if (!(await outlet.write(show(piece)))) break;
  }
  return 0;
}

function iterationOf(text: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  throw new UsageError([`--iteration expects a number from 1; found '${text}'.`]);
}

function rawBytes(piece: LogPiece): Uint8Array {
  return piece.kind === 'stdout' ? piece.chunk : new Uint8Array();
}

/** Returns what makes an iteration's output readable, by the agents that wrote it. */
function logOf(iteration: number, taskId: string, stateDir: string): ReadableLog {
  const folderNow = (): string | null => findTaskEntry(stateDir, taskId)?.folder ?? null;
  const folder = folderNow();
  const stored = folder === null ? null : readStoredRun(folder);
  if (stored === null) return createReadableLog();
  const options = { ...stored, cwd: stored.startDir, env: {} };
  const partsOf = () => readAgentNotes(folderNow() ?? '', iteration);
  // The settings name the agents of the last run; another may have written this log, without a note.
  return readableParts(partsOf, DEFAULT_AGENT, options);
}

/** Returns a function that turns each piece of a log into text. It holds back an incomplete line. */
function readableText(create: (iteration: number) => ReadableLog): (piece: LogPiece) => string {
  let stdout: ReadableLog = createPlainLog();
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
        return textOf(stdout.push(piece.chunk));
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
