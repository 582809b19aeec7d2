import { createReadStream, lstatSync } from 'node:fs';
import type { BriefIteration, JournalEntry } from '../../core/task/briefing-sources.ts';
import { tailOf } from '../../core/text/untrusted-text.ts';
import { MB } from '../files/bounded-read.ts';
import {
  amountAt,
  type JsonObject,
  numberAt,
  parseObject,
  stringAt,
  stringsAt,
} from '../files/json-fields.ts';
import { createLineSplitter } from '../files/line-splitter.ts';

/** Returns the iterations and other events that a journal (the record of events) has since an instant, for a report. */
export async function readJournal(file: string, since: string): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) return entries;
  const splitter = createLineSplitter({
    maxLineBytes: LINE_MAX_BYTES,
    onLine: (line) => {
      // Nearly all lines are activities of the agent, which the report does not show.
      if (line.toString('latin1', 0, ACTIVITY.length) === ACTIVITY) return;
      const event = parseObject(line.toString());
      const at = event === null ? null : instantAt(event, 'at');
      // Skips lines that a killed process has left half-written.
      if (event === null || at === null || at < since) return;
      const entry = readEntry(event, at);
      if (entry !== null) entries.push(entry);
    },
  });
  for await (const chunk of createReadStream(file)) splitter.push(chunk);
  splitter.end();
  return entries;
}

/** A final message of 1 MB is on one line, and escapes may make it six times as long. */
const LINE_MAX_BYTES = 8 * MB;

const ACTIVITY = '{"event":"agent_activity"';

function readEntry(event: JsonObject, at: string): JournalEntry | null {
  const [taskId, name] = [stringAt(event, 'task_id'), stringAt(event, 'event')];
  if (taskId === null || name === null) return null;
  if (name === 'task_iterated') {
    return { kind: 'iteration', taskId, iteration: readIteration(event, at) };
  }
  // An iteration gets its entry when it has ended, and the agent's own retries get none.
  if (name === 'iteration_started' || event.by === 'agent') return null;
  // The longest texts are not kept, as there may be hundreds.
  const { prompt, final_message: last, ...fields } = event;
  const finalMessage = typeof last === 'string' ? tailOf(last, MESSAGE_CHARS) : null;
  return { kind: 'happening', taskId, happening: { ...fields, event: name, at }, finalMessage };
}

function readIteration(event: JsonObject, at: string): BriefIteration {
  return {
    number: amountAt(event, 'iteration'),
    ...agentIn(event),
    started_at: instantAt(event, 'started_at') ?? at,
    duration_ms: amountAt(event, 'duration_ms'),
    outcome: stringAt(event, 'outcome') ?? 'answered',
    exit_code: numberAt(event, 'exit_code'),
    completed: event.completed === true,
    near_miss: event.near_miss === true,
    cost_usd: amountAt(event, 'cost_usd'),
    input_tokens: amountAt(event, 'input_tokens'),
    output_tokens: amountAt(event, 'output_tokens'),
    turns: amountAt(event, 'turns'),
    tools: amountAt(event, 'tools'),
    refused: stringsAt(event, 'refused'),
    files_changed: numberAt(event, 'files_changed'),
    output_preview: stringAt(event, 'output_preview') ?? '',
    detail: stringAt(event, 'detail') ?? '',
  };
}

function agentIn(event: JsonObject): Pick<BriefIteration, 'agent'> {
  const agent = stringAt(event, 'agent');
  return agent === null ? {} : { agent };
}

/** The report shows at most this many characters from the end of a final message. */
const MESSAGE_CHARS = 8_000;

function instantAt(event: JsonObject, key: string): string | null {
  const text = stringAt(event, key);
  return text === null || Number.isNaN(Date.parse(text)) ? null : text;
}
