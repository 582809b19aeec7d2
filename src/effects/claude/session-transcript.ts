import { homedir } from 'node:os';
import path from 'node:path';
import { QUIET_LISTENER, QUIET_SIGNS } from '../agents/agent.ts';
import { MB, readTail } from '../files/bounded-read.ts';
import { ifPossible } from '../files/if-possible.ts';
import { parseObject, stringAt } from '../files/json-fields.ts';
import { createLineSplitter } from '../files/line-splitter.ts';
import { createClaudeStream } from './stream.ts';

/** Only this much of the transcript's end is read, so that a long session takes no more time. */
const TAIL_BYTES = 8 * MB;
const LINE_END = Buffer.from('\n');

/** Returns the main agent's last message in a transcript of Claude Code; null if there is none. Never throws. */
export function lastMessageIn(transcript: string): string | null {
  const file = transcript.startsWith('~/') ? path.join(homedir(), transcript.slice(2)) : transcript;
  const bytes = ifPossible(() => readTail(file, TAIL_BYTES));
  if (bytes === null) return null;
  const reader = createClaudeStream(QUIET_LISTENER, QUIET_SIGNS);
  const splitter = createLineSplitter({
    onLine: (line) => {
      const entry = parseObject(line.toString());
      if (entry === null || stringAt(entry, 'type') !== 'assistant') return;
      // Skips messages of sub-agents, and messages that Claude Code itself writes about API errors.
      if (entry.isSidechain === true || entry.isApiErrorMessage === true) return;
      reader.push(Buffer.concat([line, LINE_END]));
    },
  });
  splitter.push(bytes);
  splitter.end();
  return reader.facts().finalMessage;
}
