import { closeSync } from 'node:fs';
import path from 'node:path';
import { type AgentName, isAgentName } from '../../core/agent/agents/agents.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import { appendLines, openForAppend } from '../files/append-lines.ts';
import { KB, readTail } from '../files/bounded-read.ts';
import { ifPossible } from '../files/if-possible.ts';
import { numberAt, parseObject } from '../files/json-fields.ts';
import type { PinnedFolder } from '../trust/pinned-folder.ts';
import { iterationName } from './iteration-log.ts';

/*
 * Several agents may write to the log of one iteration, and a task can be resumed with another agent. A file beside the
 * log notes where the part of each agent begins. Without this file, claude or a command wrote the log.
 */

/** The part of a log that one attempt has written. */
export interface LogPart {
  readonly agent: AgentName;
  /** The position in standard output at which the part begins, in bytes. */
  readonly from: number;
}

/** Writes down which agent writes to an iteration's log from now on. Ignores errors; never throws. */
export function noteAgent(folder: PinnedFolder, iteration: number, part: LogPart): void {
  try {
    folder.check();
    const descriptor = openForAppend(path.join(folder.path, agentNotesName(iteration)));
    try {
      appendLines(descriptor, `${safeJson(part)}\n`);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // This failure need not be reported: writing the state file fails the same way.
  }
}

/** Returns the parts of an iteration's log in order; empty if they are unknown. */
export function readAgentNotes(folder: string, iteration: number): readonly LogPart[] {
  const file = path.join(folder, agentNotesName(iteration));
  const text = ifPossible(() => readTail(file, 64 * KB).toString()) ?? '';
  return text.split('\n').flatMap((line) => {
    const note = parseObject(line);
    const from = note === null ? null : numberAt(note, 'from');
    return from !== null && isAgentName(note?.agent) ? [{ agent: note.agent, from }] : [];
  });
}

function agentNotesName(iteration: number): string {
  return `${iterationName(iteration)}.agents.jsonl`;
}
