import type { RateLimitFacts, ResultFacts, RetryFacts } from '../../core/agent/attempt.ts';
import { oneLine, tailWithin } from '../files/bounded-text.ts';
import {
  isObject,
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  stringAt,
  stringsAt,
} from '../files/json-fields.ts';

/** Of a longer message, only the end is stored. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_TARGET_CHARS = 200;
const MAX_COMMAND_CHARS = 2_000;
const MAX_NAME_CHARS = 200;
const PEEKED_BYTES = 160;
const LEFT_BRACE = 0x7b;
const RIGHT_BRACE = 0x7d;
/** Space, tab, line feed and carriage return: the white space that JSON allows around a value. */
const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const MAX_ERRORS = 20;
const MAX_ERROR_CHARS = 2000;
/** The year 5138: a larger number is not a time in seconds. */
const LAST_EPOCH_SECOND = 1e11;

/** Input fields that say what a tool call acts on; the first one with a text is used. */
const TARGET_KEYS = [
  'command',
  'file_path',
  'notebook_path',
  'pattern',
  'url',
  'query',
  'description',
] as const;

/** One entry of `permission_denials` in a `result` event. */
export interface ToolDenial {
  readonly id: string | null;
  readonly tool: string;
  readonly target: string;
  /** The shell command; '' if it is too long to store, null if the call has no command. */
  readonly command: string | null;
}

/**
 * Whether a line begins with `{` and ends with `}`. This is faster than parsing, which throws for any
 * other line; an agent can write millions of lines that are not JSON.
 */
export function isBraced(line: Buffer): boolean {
  let first = 0;
  let last = line.length - 1;
  while (BLANKS.has(line[first])) first += 1;
  while (BLANKS.has(line[last])) last -= 1;
  return line[first] === LEFT_BRACE && line[last] === RIGHT_BRACE;
}

/**
 * Reads the kind of an event, such as `assistant` or `system/init`, from the first bytes of a line,
 * where `claude` writes it. Returns null if the line must be parsed to find the kind, or if it does
 * not end with `}`.
 */
export function peekKind(line: Buffer): string | null {
  if (line[line.length - 1] !== RIGHT_BRACE) return null;
  const head = line.toString('latin1', 0, PEEKED_BYTES);
  if (head.startsWith('{"type":"assistant"')) return 'assistant';
  if (head.startsWith('{"type":"user"')) return 'user';
  const match = /^\s*\{\s*"type"\s*:\s*"(\w+)"(?:\s*,\s*"subtype"\s*:\s*"(\w+)")?/.exec(head);
  if (match === null) return null;
  const [, type, subtype] = match;
  if (type === undefined) return null;
  if (type !== 'system') return type;
  return subtype === undefined ? null : `${type}/${subtype}`;
}

/** Returns the kind of a parsed event, such as `assistant` or `system/init`; null if it has no type. */
export function kindOf(event: JsonObject): string | null {
  const type = nameAt(event, 'type');
  if (type !== 'system') return type;
  const subtype = nameAt(event, 'subtype');
  return subtype === null ? type : `${type}/${subtype}`;
}

/** Reads a `system/api_retry` event. */
export function readRetry(event: JsonObject): RetryFacts {
  return {
    status: numberAt(event, 'error_status'),
    error: nameAt(event, 'error') ?? '',
    attempt: numberAt(event, 'attempt'),
    maxRetries: numberAt(event, 'max_retries'),
    delayMs: numberAt(event, 'retry_delay_ms'),
  };
}

/** Reads a `rate_limit_event`; returns null if it contains no status. */
export function readRateLimit(event: JsonObject): RateLimitFacts | null {
  const info = objectAt(event, 'rate_limit_info');
  const status = info === null ? null : nameAt(info, 'status');
  if (info === null || status === null) return null;
  return {
    status,
    resetsAt: instant(numberAt(info, 'resetsAt')),
    type: nameAt(info, 'rateLimitType'),
    utilization: numberAt(info, 'utilization'),
  };
}

function instant(epochSeconds: number | null): string | null {
  if (epochSeconds === null || epochSeconds <= 0 || epochSeconds > LAST_EPOCH_SECOND) return null;
  return new Date(epochSeconds * 1000).toISOString();
}

/** Reads a `result` event. Without `is_error`, any subtype but `success` is an error. */
export function readResult(event: JsonObject): ResultFacts {
  const subtype = nameAt(event, 'subtype') ?? 'unknown';
  const isError = event.is_error;
  const text = stringAt(event, 'result');
  return {
    subtype,
    isError: typeof isError === 'boolean' ? isError : subtype !== 'success',
    apiErrorStatus: numberAt(event, 'api_error_status'),
    text: text === null ? null : tailWithin(text, MAX_MESSAGE_BYTES),
    errors: stringsAt(event, 'errors')
      .slice(0, MAX_ERRORS)
      .map((error) => oneLine(error, MAX_ERROR_CHARS)),
    terminalReason: nameAt(event, 'terminal_reason'),
    numTurns: numberAt(event, 'num_turns'),
  };
}

/** Returns the tool calls that a `result` event lists as refused. */
export function readDenials(event: JsonObject): readonly ToolDenial[] {
  return objectsAt(event, 'permission_denials').map((denial) => ({
    id: nameAt(denial, 'tool_use_id'),
    tool: nameAt(denial, 'tool_name') ?? 'unknown',
    target: describeTarget(objectAt(denial, 'tool_input')),
    command: commandOf(objectAt(denial, 'tool_input')),
  }));
}

function commandOf(input: JsonObject | null): string | null {
  const command = input === null ? null : stringAt(input, 'command');
  if (command === null || command.trim() === '') return null;
  return command.length > MAX_COMMAND_CHARS ? '' : command;
}

/** Returns at most 200 characters of a field such as an id or a tool's name; null if it is not text. */
export function nameAt(object: JsonObject, key: string): string | null {
  const name = stringAt(object, key);
  return name === null ? null : oneLine(name, MAX_NAME_CHARS);
}

/**
 * Returns what a tool call acts on, in one line of at most 200 characters: its command, file, pattern
 * or address, otherwise the first level of its input. Returns '' without an input.
 */
export function describeTarget(input: JsonObject | null): string {
  if (input === null) return '';
  for (const key of TARGET_KEYS) {
    const value = stringAt(input, key);
    if (value !== null && value.trim() !== '') return oneLine(value, MAX_TARGET_CHARS);
  }
  return oneLine(firstLevel(input), MAX_TARGET_CHARS);
}

/** Returns an object as JSON, with `[…]` and `{…}` for nested values. Leaves out what would be cut off. */
function firstLevel(input: JsonObject): string {
  const members: string[] = [];
  let length = 0;
  for (const key of Object.keys(input)) {
    if (length > MAX_TARGET_CHARS) break;
    const member = `${shortJson(key)}:${shortJson(input[key])}`;
    members.push(member);
    length += member.length;
  }
  return members.length === 0 ? '' : `{${members.join(',')}}`;
}

function shortJson(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MAX_TARGET_CHARS));
  if (Array.isArray(value)) return value.length === 0 ? '[]' : '[…]';
  if (isObject(value)) return Object.keys(value).length === 0 ? '{}' : '{…}';
  return String(value);
}

/** Whether an `assistant` event comes from the model. If a request fails, `claude` itself writes one. */
export function isFromModel(event: JsonObject): boolean {
  const message = objectAt(event, 'message');
  return message !== null && stringAt(message, 'model') !== '<synthetic>';
}

/** Returns the content blocks of a message; plain text counts as one text block. */
export function contentBlocks(message: JsonObject): readonly JsonObject[] {
  const text = stringAt(message, 'content');
  return text === null ? objectsAt(message, 'content') : [{ type: 'text', text }];
}

export function isFromSubAgent(event: JsonObject): boolean {
  return (event.parent_tool_use_id ?? null) !== null;
}
