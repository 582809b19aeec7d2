import type { RefusedTool, Usage } from '../../core/agent/attempt.ts';
import { targetOf } from '../../core/agent/tool-target.ts';
import { shortLine } from '../files/bounded-text.ts';
import { type JsonObject, numberAt, objectAt, objectsAt, stringAt } from '../files/json-fields.ts';

/** Only the end of a longer message is stored. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_TARGET_CHARS = 200;
const MAX_COMMAND_CHARS = 2_000;
const MAX_NAME_CHARS = 200;
const LEFT_BRACE = 0x7b;
const RIGHT_BRACE = 0x7d;
/** Space, tab, line feed and carriage return: the white space that JSON allows around a value. */
const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** A tool call, as far as ralph needs it. */
export type ToolCall = Omit<RefusedTool, 'laterSucceeded'>;

/** One entry of `permission_denials` in a `result` event of claude or qwen. */
export interface ToolDenial extends ToolCall {
  readonly id: string | null;
}

/** Whether a line begins with `{` and ends with `}`, apart from white space. Much faster than a failed parse. */
export function isBraced(line: Buffer): boolean {
  let first = 0;
  let last = line.length - 1;
  while (BLANKS.has(line[first])) first += 1;
  while (BLANKS.has(line[last])) last -= 1;
  return line[first] === LEFT_BRACE && line[last] === RIGHT_BRACE;
}

/** Returns a tool call: the name of the tool, its target, and its command. */
export function toolCall(tool: string, input: JsonObject | null): ToolCall {
  return { tool, target: describeTarget(input), command: commandOf(input) };
}

/** Returns the tool calls that a `result` event of claude or qwen lists as refused. */
export function readDenials(event: JsonObject): readonly ToolDenial[] {
  return objectsAt(event, 'permission_denials').map((denial) => ({
    id: nameAt(denial, 'tool_use_id'),
    ...toolCall(nameAt(denial, 'tool_name') ?? 'unknown', objectAt(denial, 'tool_input')),
  }));
}

/** Returns the content blocks of a message; plain text counts as one text block. */
export function contentBlocks(message: JsonObject): readonly JsonObject[] {
  const text = stringAt(message, 'content');
  return text === null ? objectsAt(message, 'content') : [{ type: 'text', text }];
}

/** Returns at most 200 characters of a field such as an id or a tool's name; null if it is not text. */
export function nameAt(object: JsonObject, key: string): string | null {
  const name = stringAt(object, key);
  return name === null ? null : shortLine(name, MAX_NAME_CHARS);
}

/** Returns the `input_tokens` and `output_tokens` that an agent reports in a field; missing numbers count as 0. */
export function tokensAt(object: JsonObject, key: string): Omit<Usage, 'cost_usd'> {
  const told = objectAt(object, key) ?? {};
  return {
    input_tokens: numberAt(told, 'input_tokens') ?? 0,
    output_tokens: numberAt(told, 'output_tokens') ?? 0,
  };
}

/** Returns what a tool call acts on, or else its input as JSON: one line of at most 200 characters, '' if no input. */
export function describeTarget(input: JsonObject | null): string {
  if (input === null || Object.keys(input).length === 0) return '';
  return shortLine(targetOf(input) ?? JSON.stringify(input), MAX_TARGET_CHARS);
}

function commandOf(input: JsonObject | null): string | null {
  const command = input === null ? null : stringAt(input, 'command');
  if (command === null || command.trim() === '') return null;
  return command.length > MAX_COMMAND_CHARS ? '' : command;
}
