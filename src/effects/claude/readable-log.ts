import type { LogItem } from '../../core/agent/log-item.ts';
import { withoutControls } from '../../core/text/untrusted-text.ts';
import { contentBlocks, describeTarget, nameAt } from '../agents/event-fields.ts';
import { shortLine } from '../files/bounded-text.ts';
import {
  type JsonObject,
  objectAt,
  objectsAt,
  parseObject,
  stringAt,
} from '../files/json-fields.ts';
import { createLineSplitter } from '../files/line-splitter.ts';
import { eventKind, readResult, subAgentOf } from './stream-events.ts';
import { readCost } from './usage-meter.ts';

/** Turns the bytes of a log into items, such as a text or a tool call. */
export interface ReadableLog {
  /** Reads the next bytes and returns the items that are now complete. */
  push(chunk: Buffer): readonly LogItem[];
  /** Call this at the end of the log. Returns the items of a last line without a line end. */
  end(): readonly LogItem[];
}

const MAX_ERROR_CHARS = 200;

/** Returns a reader that only removes control characters from each line, for logs without events. */
export function createPlainLog(): ReadableLog {
  return byLines((line, items) => {
    items.push({ kind: 'line', text: withoutControls(line.toString()) });
  });
}

/** Turns `stream-json` output of `claude` into items; other lines only lose control characters. */
export function createReadableLog(): ReadableLog {
  let hasSpoken = false;

  const readLine = (line: Buffer, items: LogItem[]): void => {
    const text = line.toString();
    const event = parseObject(text);
    if (event === null || !isEvent(event)) items.push(otherLine(text, event));
    else readEvent(event, items);
  };

  const readEvent = (event: JsonObject, items: LogItem[]): void => {
    const body = objectAt(event, 'message');
    switch (stringAt(event, 'type')) {
      case 'assistant':
        if (body !== null) readMessage(body, subAgentOf(event) !== null, items);
        return;
      case 'user':
        if (body !== null && subAgentOf(event) === null) readToolResults(body, items);
        return;
      case 'result':
        readReport(event, items);
    }
  };

  /** Adds a sub-agent's tool calls, but not its texts. */
  const readMessage = (body: JsonObject, isOfSubAgent: boolean, items: LogItem[]): void => {
    for (const block of contentBlocks(body)) {
      const type = stringAt(block, 'type');
      if (type === 'tool_use') {
        items.push({
          kind: 'tool',
          tool: clean(nameAt(block, 'name') ?? 'unknown'),
          target: clean(describeTarget(objectAt(block, 'input'))),
        });
      } else if (type === 'text' && !isOfSubAgent) {
        const text = withoutControls(stringAt(block, 'text') ?? '').trim();
        if (text === '') continue;
        hasSpoken = true;
        items.push({ kind: 'text', text });
      }
    }
  };

  const readToolResults = (body: JsonObject, items: LogItem[]): void => {
    for (const block of contentBlocks(body)) {
      if (stringAt(block, 'type') !== 'tool_result' || block.is_error !== true) continue;
      const words =
        stringAt(block, 'content') ??
        objectsAt(block, 'content')
          .map((part) => stringAt(part, 'text') ?? '')
          .join(' ');
      items.push({ kind: 'tool-error', text: shortLine(withoutControls(words), MAX_ERROR_CHARS) });
    }
  };

  const readReport = (event: JsonObject, items: LogItem[]): void => {
    const report = readResult(event);
    // If the agent has written no text, as after a slash command, only the report contains text.
    const words = [report.text ?? '', ...report.errors].join('\n').trim();
    if (!hasSpoken && words !== '') items.push({ kind: 'text', text: withoutControls(words) });
    hasSpoken = false;
    items.push({
      kind: 'result',
      how: clean(report.isError && report.subtype === 'success' ? 'error' : report.subtype),
      turns: report.numTurns,
      costUsd: readCost(event),
    });
  };

  return byLines(readLine);
}

function byLines(onLine: (line: Buffer, items: LogItem[]) => void): ReadableLog {
  let items: LogItem[] = [];
  const lines = createLineSplitter({
    onLine: (line) => onLine(line, items),
    onSkipped: (bytes) => items.push({ kind: 'skipped', bytes }),
  });
  const take = (): readonly LogItem[] => {
    const taken = items;
    items = [];
    return taken;
  };
  return {
    push(chunk) {
      lines.push(chunk);
      return take();
    },
    end() {
      lines.end();
      return take();
    },
  };
}

/** Whether the object is an event of `claude`: a command agent can print other JSON with a `type`. */
function isEvent(event: JsonObject): boolean {
  const kind = eventKind(event);
  if (kind === null) return false;
  const isMessage = kind === 'assistant' || kind === 'user';
  if (isMessage) return objectAt(event, 'message') !== null;
  if (kind === 'result') return stringAt(event, 'subtype') !== null;
  return kind.startsWith('system/') || stringAt(event, 'session_id') !== null;
}

const TORN = /^\s*\{\s*"type"\s*:\s*"(?:assistant|user|system|result|stream_event)"\s*,/;

function otherLine(text: string, parsed: JsonObject | null): LogItem {
  if (parsed === null && TORN.test(text)) return { kind: 'torn' };
  return { kind: 'line', text: withoutControls(text) };
}

function clean(text: string): string {
  return shortLine(withoutControls(text), 200);
}
