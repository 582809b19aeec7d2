import path from 'node:path';
import { DEFAULT_AGENT } from '../core/agent/agents/agents.ts';
import type { Ending } from '../core/machine/loop-state.ts';
import { maskSecrets } from '../core/secrets/secrets.ts';
import type { TaskState } from '../core/task/task-state.ts';
import { withoutControls } from '../core/text/untrusted-text.ts';
import { leadsOut } from '../effects/files/real-path.ts';
import { sealAt } from '../effects/trust/seal.ts';
import { writeNote } from '../effects/vault/note-file.ts';
import { renderNote } from '../report/notes/note.ts';
import { resumeCommand } from '../report/resume-command.ts';
import type { ServicePlace } from './service-options.ts';

/** A task of the library that has ended, and its files. */
export interface EndedBookTask {
  readonly task: TaskState;
  readonly ending: Ending;
  readonly stateFile: string;
  readonly logDir: string;
}

/**
 * Writes the note for a human that the loop would write for this ending. Resolves to its path, or to
 * null if the ending needs no note. Rejects if it cannot be written.
 */
export async function leaveNote(
  { task, ending, stateFile, logDir }: EndedBookTask,
  place: ServicePlace,
  lastOutput: string | null,
  at: string,
): Promise<string | null> {
  if (ending.note === null) return null;
  const { vault } = place;
  const folder = path.join(vault, 'Needs_Action');
  if (leadsOut(folder, vault)) throw new Error(`${folder} is a link that leads out of the vault.`);
  const note = renderNote({
    task,
    ending,
    agent: DEFAULT_AGENT,
    created: at,
    stateFile,
    logDir,
    completion: completionInWords(task),
    lastOutput: lastOutput === null ? null : withoutControls(lastOutput).slice(-8_000),
    missing: [],
    commandOutputs: [],
    again: resumeCommand(
      { ...place, taskId: task.task_id, needsTrust: sealAt(place).problem !== null },
      ending.status,
    ),
  });
  const text = maskSecrets(note);
  return writeNote({ folder, reason: ending.note, taskId: task.task_id, at, text });
}

function completionInWords({ completion_promise, watch_file, done_folder }: TaskState): string {
  const ways = [
    completion_promise === null ? [] : [`'<promise>${completion_promise}</promise>' is satisfied`],
    watch_file === null ? [] : [`'${watch_file}' has been moved to '${done_folder}'`],
  ].flat();
  return ways.join(', or ') || 'the program that keeps the task says so';
}
