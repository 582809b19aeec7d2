import { createReadStream, lstatSync } from 'node:fs';
import type { BriefIteration, Happening, JournalEntry } from '../../core/task/briefing-sources.ts';
import { tailOf } from '../../core/text/untrusted-text.ts';
import { MB } from '../files/bounded-read.ts';
import {
  amountAt,
  type JsonObject,
  numberAt,
  objectAt,
  parseObject,
  stringAt,
  stringsAt,
} from '../files/json-fields.ts';
import { createLineSplitter } from '../files/line-splitter.ts';

/** Returns the iterations and other events in a journal since the instant `since`, as far as a report shows them. */
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
      // Skips lines that a killed driver has left half-written.
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
  const taskId = stringAt(event, 'task_id');
  if (taskId === null) return null;
  if (stringAt(event, 'event') === 'task_iterated') {
    return { kind: 'iteration', taskId, iteration: readIteration(event, at) };
  }
  const happening = readHappening(event, at);
  if (happening === null) return null;
  const message = stringAt(event, 'final_message');
  const finalMessage = message === null ? null : tailOf(message, MESSAGE_CHARS);
  return { kind: 'happening', taskId, happening, finalMessage };
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

function moreOf(event: JsonObject): string {
  const more = amountAt(event, 'more');
  return more === 0 ? '' : ` and ${more} more`;
}

function readHappening(event: JsonObject, at: string): Happening | null {
  const text = (key: string): string => stringAt(event, key) ?? '';
  const happening = (kind: Happening['kind'], detail: string): Happening => ({ at, kind, detail });
  switch (stringAt(event, 'event')) {
    case 'task_started':
      return happening('started', '');
    case 'task_resumed':
      return happening('resumed', '');
    case 'asked_back':
      return happening('asked-back', text('line'));
    case 'supervisor':
      return happening('supervised', `${text('action')}: ${text('detail')}`);
    case 'near_miss':
      return happening('near-miss', text('line'));
    case 'claim_held':
      return happening('held', `${text('gate')}: ${text('detail')}`);
    case 'finding':
      return happening('finding', text('detail'));
    case 'sandbox_refused':
      return happening(
        'refused-host',
        `${text('host')}:${amountAt(event, 'port')}${moreOf(event)}`,
      );
    case 'sandbox_planted':
      return happening('planted', `${text('path')}${moreOf(event)}`);
    case 'usage_limit_wait':
      return happening('limited', text('until'));
    case 'agent_changed':
      return happening(
        'changed',
        `${text('from')} to ${text('to')}, ${text('why').replaceAll('-', ' ')}`,
      );
    case 'agent_retry':
      return text('by') === 'ralph' ? happening('retried', text('error')) : null;
    case 'task_paused':
      if (stringAt(event, 'approval_id') !== null) return happening('asked', text('approval_id'));
      return happening('ended', text('exit_reason') || 'paused');
    default:
      if (stringAt(event, 'status') === null) return null;
      return happening(
        'ended',
        stringAt(objectAt(event, 'evidence') ?? {}, 'detail') ??
          (text('error') || text('exit_reason').replace(/[-_:]/g, ' ')),
      );
  }
}

/** The report shows at most this many characters from the end of a final message. */
const MESSAGE_CHARS = 8_000;

function instantAt(event: JsonObject, key: string): string | null {
  const text = stringAt(event, key);
  return text === null || Number.isNaN(Date.parse(text)) ? null : text;
}
